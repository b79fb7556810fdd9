import '@xyflow/react/dist/base.css';
import './canvas.css';
import { ActionIcon, Group } from '@mantine/core';
import { IconArrowsMaximize, IconZoomIn, IconZoomOut } from '@tabler/icons-react';
import {
  Background,
  BaseEdge,
  type Edge,
  type EdgeProps,
  MarkerType,
  MiniMap,
  type Node,
  Panel,
  Position,
  ReactFlow,
  type ReactFlowInstance,
  useReactFlow,
} from '@xyflow/react';
import { type Ref, useImperativeHandle, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { CanvasContext, type CanvasState, EndNode, HANDLE, StepNode } from './canvas-node.tsx';
import { stepsFromText, stepsToText } from './clipboard.ts';
import type { Counts } from './counts.ts';
import type { Mark } from './compare.ts';
import { type Definition, pickSteps, type Place, placeAfter, type Step } from './definition.ts';
import {
  type Direction,
  END_SIZE,
  ENTRY,
  type GraphNode,
  graphOf,
  neighborOf,
  type PlacedEdge,
  type PlacedNode,
  placeNodes,
  type Point,
  type Size,
} from './graph.ts';
import { SelectionBar, useSelection } from './selection.tsx';
import type { Names } from './summaries.ts';

/** What may be done to a journey on its canvas. */
export interface CanvasEdit {
  /** Adds steps at a place; `isNew` if they are not copies. */
  insert: (place: Place, steps: readonly Step[], isNew?: boolean) => void;
  remove: (ids: readonly string[]) => void;
  move: (id: string, place: Place) => void;
  connect: (place: Place, to: string | null) => void;
  /** Steps were copied. */
  copied: (steps: readonly Step[]) => void;
  /** What was pasted has no steps that can be added. */
  refused: (reason: string) => void;
}

export interface CanvasHandle {
  /** Brings a node into view, … */
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

const WIDTH = 250;
/** Narrower, so that two ways fit on a phone. */
const STATIC_WIDTH = 190;
const NODE_TYPES = { step: StepNode, end: EndNode };
const EDGE_TYPES = { placed: PlacedEdgeView };
const MINIMAP_FROM = 24;
const MARGIN = 24;
/** The height of what stays at the top of the window, in pixels. */
const HEADER = 56;
/** The widest label of an edge, in pixels. */
const LABEL = 150;

type FlowNode = Node<{ placed: PlacedNode }>;
type FlowEdge = Edge<{ placed: PlacedEdge }>;

const KEYS: Record<string, Direction | undefined> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
};

/** A journey as a graph, laid out automatically. One of its nodes is in the tab order; arrow keys lead to the others. */
export function Canvas({ label, definition, names, entry, problems, counts, marks, ...props }: CanvasProps) {
  const { selected, onSelect, edit, isStatic = false, ref } = props;
  const wrapper = useRef<HTMLDivElement>(null);
  const flow = useRef<ReactFlowInstance<FlowNode, FlowEdge>>(null);
  const awaited = useRef<string>(undefined);
  const [active, setActive] = useState(ENTRY);
  const [drag, setDrag] = useState<{ id: string; x: number; y: number }>();
  const rows = ({ id }: GraphNode) => (problems?.has(id) ? 1 : 0);
  const graph = graphOf(definition);
  // Typing changes the content of steps, and not where they are.
  const shape = JSON.stringify([
    graph.map((node) => [node.id, rows(node), node.exits.map(({ key, label: text, target }) => [key, text, target])]),
    edit === undefined,
    counts === undefined,
    isStatic,
  ]);
  const places = useMemo(
    () =>
      placeNodes(graph, {
        node: (node) => ({ width: isStatic ? STATIC_WIDTH : WIDTH, height: 62 + 19 * rows(node) }),
        label: ({ label: text }) => ({
          width: Math.min(LABEL, text === '' ? 0 : text.length * 7.5 + 20) + (counts ? 44 : 0) + (edit ? 28 : 0),
          height: edit || counts || text !== '' ? 26 : 0,
        }),
        gap: isStatic ? 20 : 36,
      }),
    // The shape stands for all that decides where nodes are.
    // oxlint-disable-next-line react/exhaustive-deps
    [shape],
  );
  const placed = useMemo(() => {
    const byId = new Map(definition.steps.map((each) => [each.id, each]));
    return places.map((node) => ({ ...node, step: byId.get(node.id) }));
  }, [places, definition.steps]);
  const current = placed.some(({ id }) => id === active) ? active : ENTRY;

  const focus = (id: string) => {
    setActive(id);
    show(id);
    const button = buttonOf(wrapper.current, id);
    // A node that was just added is drawn a moment later.
    if (button == null) awaited.current = id;
    else button.focus({ preventScroll: true });
  };
  const drawn: CanvasState['drawn'] = (id, button) => {
    if (awaited.current !== id || button === null) return;
    awaited.current = undefined;
    button.focus({ preventScroll: true });
  };
  const show = (id: string) => {
    const node = placed.find((each) => each.id === id);
    if (node !== undefined) reveal(node);
  };
  /** Pans the graph and scrolls the page as little as brings a part of the graph into view. */
  const reveal = ({ x: left, y: top, width, height }: Point & Size) => {
    const [{ current: instance }, box] = [flow, wrapper.current?.getBoundingClientRect()];
    if (instance === null || box === undefined) return;
    const { x, y, zoom } = instance.getViewport();
    const scrolled = isStatic ? (wrapper.current?.scrollLeft ?? 0) : 0;
    const across = shiftInto(left * zoom + x - scrolled, width * zoom, MARGIN, box.width - MARGIN);
    const down = isStatic ? 0 : shiftInto(top * zoom + y, height * zoom, MARGIN, box.height - MARGIN);
    if (isStatic) wrapper.current?.scrollBy({ left: -across });
    else if (across !== 0 || down !== 0) void instance.setViewport({ x: x + across, y: y + down, zoom });
    const at = box.top + top * zoom + y + down;
    window.scrollBy({ top: -shiftInto(at, height * zoom, HEADER + MARGIN, window.innerHeight - MARGIN) });
  };
  useImperativeHandle(ref, () => ({ show, focus }));

  const step = (id: string) => placed.find((node) => node.id === id)?.step;
  const selection = useSelection(placed);
  /** What is meant when a step is focused: the steps that are selected, or else the step. */
  const meant = (id: string) => (selection.ids.length > 0 ? selection.ids : [id]);
  const toggle = (id: string) => {
    if (isStatic || step(id) === undefined) return;
    selection.toggle(id, selected);
    onSelect(undefined, false);
  };
  const remove = (ids: readonly string[]) => {
    const [first = ENTRY] = ids;
    const next = [neighborOf(placed, first, 'down'), neighborOf(placed, first, 'up')].find(
      (other) => other !== undefined && !ids.includes(other),
    );
    selection.clear();
    flushSync(() => edit?.remove(ids));
    focus(next ?? ENTRY);
  };
  const press: CanvasState['press'] = (event, id) => {
    const direction = KEYS[event.key];
    const hasCommand = event.ctrlKey || event.metaKey;
    const here = step(id);
    if (direction !== undefined && !hasCommand) {
      const next = neighborOf(placed, id, direction);
      if (!event.shiftKey) selection.clear();
      else if (!isStatic && next !== undefined) selection.add(id, next);
      if (next !== undefined) focus(next);
    } else if (event.key === 'Escape') {
      if (selection.ids.length > 0) selection.clear();
      else onSelect(undefined, true);
    } else if (event.key === 'Enter' && event.shiftKey) {
      toggle(id);
    } else if (event.key.toLowerCase() === 'a' && hasCommand && !isStatic) {
      onSelect(undefined, false);
      selection.add(...placed.map((node) => node.id));
    } else if (
      edit === undefined ||
      (here === undefined && selection.ids.length === 0 && event.key.toLowerCase() !== 'a')
    ) {
      return;
    } else if ((event.key === 'Delete' || event.key === 'Backspace') && !hasCommand) {
      remove(meant(id));
    } else if (event.key.toLowerCase() === 'a' && !hasCommand) {
      const label = placed.find((node) => node.id === id)?.exits[0]?.labelAt;
      if (label) reveal({ x: label.x - LABEL / 2, y: label.y - 13, width: LABEL, height: 26 });
      wrapper.current?.querySelector<HTMLElement>(`[data-insert="${CSS.escape(id)}"]`)?.click();
    } else if (event.key.toLowerCase() === 'd' && hasCommand && here !== undefined) {
      const place = placeAfter(here);
      if (place !== undefined) edit.insert(place, pickSteps(definition, meant(id)));
    } else return;
    event.preventDefault();
  };
  const clipboard: CanvasState['clipboard'] = (event, id) => {
    const here = step(id);
    if (event.type === 'paste') {
      const steps = stepsFromText(event.clipboardData.getData('text/plain'));
      const place = here === undefined ? 'start' : placeAfter(here);
      if (edit === undefined || place === undefined) return;
      if (typeof steps === 'string') edit.refused(steps);
      else edit.insert(place, steps);
    } else {
      if ((here === undefined && selection.ids.length === 0) || window.getSelection()?.isCollapsed === false) return;
      const steps = pickSteps(definition, meant(id));
      event.clipboardData.setData('text/plain', stepsToText(steps));
      edit?.copied(steps);
      if (event.type === 'cut' && edit !== undefined) remove(meant(id));
    }
    event.preventDefault();
  };

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
  const isEditable = edit !== undefined;
  const nodes = useMemo(() => placed.map((node) => flowNode(node, isEditable)), [placed, isEditable]);
  const shown = drag
    ? nodes.map((node) => (node.id === drag.id ? { ...node, position: { x: drag.x, y: drag.y }, zIndex: 5 } : node))
    : nodes;
  const edges = useMemo(() => placed.flatMap((node) => node.exits.map(flowEdge)), [placed]);
  const placeOf = (source: string, key: string | null | undefined) =>
    placed.find(({ id }) => id === source)?.exits.find((each) => each.key === key)?.place;
  const connect = (place: Place | undefined, target: string) => {
    if (place !== undefined) edit?.connect(place, target.startsWith(':') ? null : target);
  };
  const whole = isStatic ? wholeOf(placed) : undefined;
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
              if (whole === undefined) void instance.setViewport(startOf(placed, wrapper.current));
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
            nodesDraggable={edit !== undefined}
            nodesConnectable={edit !== undefined}
            edgesReconnectable={edit !== undefined}
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

const buttonOf = (wrapper: HTMLElement | null, id: string) =>
  wrapper?.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"]`);

/** Shows as much of the graph from its top as fits legibly, the entry in the middle. */
function startOf(placed: readonly PlacedNode[], wrapper: HTMLElement | null) {
  const room = wrapper?.clientWidth ?? 800;
  const [left, right] = [Math.min(...placed.map(({ x }) => x)), Math.max(...placed.map(({ x, width }) => x + width))];
  const zoom = Math.min(1, Math.max(0.7, (room - 2 * MARGIN) / (right - left)));
  const fits = (right - left) * zoom <= room - 2 * MARGIN;
  return { x: room / 2 - (fits ? ((left + right) / 2) * zoom : 0), y: MARGIN, zoom };
}

/** By how much to move what begins at a place, so that it is between two others; its beginning, if it has no room. */
function shiftInto(from: number, size: number, start: number, end: number): number {
  if (from < start) return start - from;
  return from + size > end ? Math.max(end - from - size, start - from) : 0;
}

/** The size of the whole graph, and where its origin is. */
function wholeOf(placed: readonly PlacedNode[]) {
  const labels = placed.flatMap(({ exits }) => exits.map(({ labelAt }) => labelAt.x));
  const left = Math.min(...placed.map(({ x }) => x), ...labels.map((x) => x - LABEL / 2));
  const right = Math.max(...placed.map(({ x, width }) => x + width), ...labels.map((x) => x + LABEL / 2));
  const bottom = Math.max(...placed.map(({ y, height }) => y + height));
  const width = right - left + 2 * MARGIN;
  return { x: MARGIN - left, y: MARGIN, width, height: bottom + 2 * MARGIN };
}

/** How near to a place a step is dropped to be moved there, in pixels. */
const NEAR = 110;

function nearestPlace(placed: readonly PlacedNode[], { id, x, y }: { id: string; x: number; y: number }) {
  const node = placed.find((each) => each.id === id);
  if (node?.step === undefined) return undefined;
  const at = { x: x + node.width / 2, y: y + node.height / 2 };
  return placed
    .flatMap(({ exits }) => exits)
    .filter(({ source, target }) => source !== id && target !== id)
    .map((edge) => ({ edge, distance: Math.hypot(edge.labelAt.x - at.x, edge.labelAt.y - at.y) }))
    .filter(({ distance }) => distance < NEAR)
    .toSorted((one, other) => one.distance - other.distance)[0]?.edge;
}

function flowNode(placed: PlacedNode, isEditable: boolean): FlowNode {
  const { id, x, y, width, height, step, exits } = placed;
  const isEnd = step === undefined && id !== ENTRY;
  const size = isEnd ? END_SIZE : { width, height };
  const handle = { width: HANDLE, height: HANDLE };
  const at = (from: number, top: number) => ({ ...handle, x: from * size.width - HANDLE / 2, y: top - HANDLE / 2 });
  return {
    id,
    type: isEnd ? 'end' : 'step',
    position: { x, y },
    ...size,
    measured: size,
    data: { placed },
    draggable: isEditable && step !== undefined,
    handles: [
      ...(id === ENTRY ? [] : [{ type: 'target' as const, position: Position.Top, ...at(0.5, 0) }]),
      ...exits.map(({ key, from }) => ({
        id: key,
        type: 'source' as const,
        position: Position.Bottom,
        ...at(from, size.height),
      })),
    ],
    // The buttons and labels inside have roles; the box around them has none.
    domAttributes: { 'aria-roledescription': undefined },
  };
}

const flowEdge = (placed: PlacedEdge): FlowEdge => ({
  id: placed.id,
  type: 'placed',
  source: placed.source,
  sourceHandle: placed.key,
  target: placed.target,
  data: { placed },
  reconnectable: 'target',
  markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--postroom-field-border)', width: 16, height: 16 },
  // Its label, count and target are told with the step that it leaves.
  ariaRole: 'presentation',
  domAttributes: { 'aria-hidden': true, 'aria-roledescription': undefined },
});

function PlacedEdgeView({ data, markerEnd }: EdgeProps<FlowEdge>) {
  return <BaseEdge path={data?.placed.path ?? ''} markerEnd={markerEnd ?? ''} />;
}

function Zoom() {
  const flow = useReactFlow();
  const buttons = [
    ['Zoom in', IconZoomIn, () => flow.zoomIn()],
    ['Zoom out', IconZoomOut, () => flow.zoomOut()],
    ['Show everything', IconArrowsMaximize, () => flow.fitView({ padding: 0.05, maxZoom: 1 })],
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
