import '@xyflow/react/dist/base.css';
import './canvas.css';
import { ActionIcon, Group } from '@mantine/core';
import { IconArrowsMaximize, IconZoomIn, IconZoomOut } from '@tabler/icons-react';
import { Background, BaseEdge, type EdgeProps, MiniMap, Panel, ReactFlow, useReactFlow } from '@xyflow/react';
import { type Ref, useImperativeHandle, useMemo, useState } from 'react';
import { useFocus } from './canvas-focus.ts';
import { useKeyboard } from './canvas-keyboard.ts';
import {
  type FlowEdge,
  flowEdge,
  type FlowNode,
  flowNode,
  nearestPlace,
  initialViewport,
  useGraphLayout,
  graphBounds,
} from './canvas-layout.ts';
import { EndNode, StepNode } from './canvas-node.tsx';
import { CanvasContext, type CanvasEdit, type CanvasState } from './canvas-state.ts';
import type { Counts } from './counts.ts';
import type { Mark } from './compare.ts';
import { pickSteps, type Place } from './definition.ts';
import type { Definition } from './definition-types.ts';
import { ENTRY } from './graph.ts';
import { SelectionBar, useSelection } from './selection.tsx';
import type { Names } from './summaries.ts';

export interface CanvasHandle {
  /** Brings a node into view, and the graph into a canvas whose width has changed, … */
  show: (id: string) => void;
  /** … and focuses it. */
  focus: (id: string) => void;
}

interface CanvasProps {
  label: string;
  definition: Definition;
  names: Names;
  /** How contacts enter, in a sentence. */
  entry: string;
  /** What keeps steps from being published, by step. */
  problems?: ReadonlyMap<string, readonly string[]>;
  /** Undefined if the journey was never published. */
  counts?: Counts | undefined;
  /** Differences from the other version, by step. */
  marks?: ReadonlyMap<string, Mark> | undefined;
  selected?: string | undefined;
  /** A node was chosen, or none any longer; by keyboard or by mouse. */
  onSelect: (id: string | undefined, byKeyboard: boolean) => void;
  /** Omitted if the journey may not be changed. */
  edit?: CanvasEdit | undefined;
  /** Whether it is shown as a whole and scrolls with the page, as on a phone. */
  isStatic?: boolean;
  ref?: Ref<CanvasHandle>;
}

const NODE_TYPES = { step: StepNode, end: EndNode };
const EDGE_TYPES = { placed: PlacedEdgeView };
const MINIMAP_FROM = 24;

/** A journey as a graph, laid out automatically. One of its nodes is in the tab order; arrow keys lead to the others. */
export function Canvas({ label, definition, names, entry, problems, counts, marks, ...props }: CanvasProps) {
  const { selected, onSelect, edit, isStatic = false, ref } = props;
  const [drag, setDrag] = useState<{ id: string; x: number; y: number }>();
  const placed = useGraphLayout(definition, {
    problems,
    hasCounts: counts !== undefined,
    isEditable: edit !== undefined,
    isStatic,
  });
  const { wrapper, flow, current, setActive, focus, show, reveal, drawn } = useFocus(placed, isStatic);
  useImperativeHandle(ref, () => ({ show, focus }));

  const step = (id: string) => placed.find((node) => node.id === id)?.step;
  const selection = useSelection(placed);
  const toggle = (id: string) => {
    if (isStatic || step(id) === undefined) return;
    selection.toggle(id, selected);
    onSelect(undefined, false);
  };
  const { press, clipboard, remove } = useKeyboard({
    definition,
    placed,
    selection,
    edit,
    isStatic,
    wrapper,
    toggle,
    onSelect,
    focus,
    reveal,
  });
  const dropPlace = drag && edit ? nearestPlace(placed, drag) : undefined;
  const state: CanvasState = {
    names,
    entry,
    problems,
    counts,
    marks,
    selected: selection.ids.length > 0 ? selection.ids : [selected],
    active: current,
    edit,
    dropPlace: dropPlace?.id,
    setActive,
    toggle,
    select: (id, byKeyboard) => {
      selection.clear();
      setActive(id);
      onSelect(id, byKeyboard);
    },
    press,
    clipboard,
    drawn,
  };
  // Where the page scrolls past the graph, a finger on it scrolls: steps are added and connected by buttons and fields only.
  const canDrag = edit !== undefined && !isStatic;
  const nodes = useMemo(() => placed.map((node) => flowNode(node, canDrag)), [placed, canDrag]);
  const shown = drag
    ? nodes.map((node) => (node.id === drag.id ? { ...node, position: { x: drag.x, y: drag.y }, zIndex: 5 } : node))
    : nodes;
  const edges = useMemo(() => placed.flatMap((node) => node.exits.map(flowEdge)), [placed]);
  const placeOf = (source: string, key: string | null | undefined) =>
    placed.find(({ id }) => id === source)?.exits.find((each) => each.key === key)?.place;
  const connect = (place: Place | undefined, target: string) => {
    if (place !== undefined) edit?.connect(place, target.startsWith(':') ? null : target);
  };
  const whole = isStatic ? graphBounds(placed) : undefined;
  return (
    <CanvasContext value={state}>
      <div className="journey-canvas" ref={wrapper} data-static={isStatic || undefined}>
        <div className="journey-canvas-size" style={whole && { width: whole.width, height: whole.height }}>
          <ReactFlow<FlowNode, FlowEdge>
            key={isStatic ? 'static' : 'free'}
            {...(whole && {
              viewport: { x: whole.x, y: whole.y, zoom: 1 },
              panOnDrag: false,
              zoomOnPinch: false,
            })}
            aria-label={label}
            nodes={shown}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            onInit={(instance) => {
              flow.current = instance;
              if (whole === undefined) void instance.setViewport(initialViewport(placed, wrapper.current));
              // The entry in the middle.
              else if (wrapper.current) wrapper.current.scrollLeft = whole.x - wrapper.current.clientWidth / 2;
            }}
            onNodesChange={(changes) => {
              for (const change of changes)
                if (change.type === 'position' && change.dragging && change.position)
                  setDrag({ id: change.id, ...change.position });
            }}
            onNodeDragStop={(_event, node) => {
              const place = nearestPlace(placed, { id: node.id, ...node.position })?.place;
              setDrag(undefined);
              if (place !== undefined) edit?.move(node.id, place);
            }}
            onConnect={({ source, sourceHandle, target }) => connect(placeOf(source, sourceHandle), target)}
            onReconnect={(edge, { target }) => connect(edge.data?.placed.place, target)}
            isValidConnection={({ source, target }) => source !== ENTRY || !target.startsWith(':')}
            nodesDraggable={canDrag}
            nodesConnectable={canDrag}
            edgesReconnectable={canDrag}
            connectionRadius={60}
            reconnectRadius={14}
            nodeDragThreshold={6}
            minZoom={0.2}
            maxZoom={1.5}
            nodesFocusable={false}
            edgesFocusable={false}
            elementsSelectable={false}
            disableKeyboardA11y
            deleteKeyCode={null}
            selectionKeyCode={null}
            multiSelectionKeyCode={null}
            panActivationKeyCode={null}
            zoomOnDoubleClick={false}
            // The page scrolls as usual; with Ctrl, or by pinching, the canvas zooms.
            zoomOnScroll={false}
            preventScrolling={false}
          >
            {!isStatic && <Background />}
            {!isStatic && <Zoom />}
            {edit && !isStatic && (
              <SelectionBar
                selection={selection}
                onCopy={() => edit.copied(pickSteps(definition, selection.ids))}
                onRemove={() => remove(selection.ids)}
              />
            )}
            {!isStatic && placed.length > MINIMAP_FROM && (
              <MiniMap
                pannable
                style={{ width: 150, height: 110 }}
                zoomable
                ariaLabel="Overview"
                className="mantine-visible-from-sm"
              />
            )}
          </ReactFlow>
        </div>
      </div>
    </CanvasContext>
  );
}

function PlacedEdgeView({ data, markerEnd }: EdgeProps<FlowEdge>) {
  return <BaseEdge path={data?.placed.path ?? ''} markerEnd={markerEnd ?? ''} />;
}

function Zoom() {
  const flow = useReactFlow();
  const buttons = [
    ['Zoom in', IconZoomIn, () => flow.zoomIn()],
    ['Zoom out', IconZoomOut, () => flow.zoomOut()],
    ['Fit to view', IconArrowsMaximize, () => flow.fitView({ padding: 0.05, maxZoom: 1 })],
  ] as const;
  return (
    <Panel position="bottom-left">
      <Group gap={4}>
        {buttons.map(([label, Icon, run]) => (
          <ActionIcon key={label} variant="default" size="md" aria-label={label} onClick={() => void run()}>
            <Icon size={16} aria-hidden />
          </ActionIcon>
        ))}
      </Group>
    </Panel>
  );
}
