import { type Edge, MarkerType, type Node, Position } from '@xyflow/react';
import { useMemo } from 'react';
import type { Definition } from './definition-types.ts';
import { END_SIZE, ENTRY, type GraphNode, graphOf, type PlacedEdge, type PlacedNode, placeNodes } from './graph.ts';

export type FlowNode = Node<{ placed: PlacedNode }>;
export type FlowEdge = Edge<{ placed: PlacedEdge }>;

/** The size of the dot that an edge leaves from, in pixels. */
const HANDLE = 9;

/** What is kept free around the graph, in pixels. */
export const MARGIN = 24;
/** The widest label of an edge, in pixels. */
export const LABEL = 150;

const WIDTH = 250;
/** Narrower, so that two branches fit on a phone. */
const STATIC_WIDTH = 190;

interface Shown {
  /** What keeps steps from being published, by step. */
  problems: ReadonlyMap<string, readonly string[]> | undefined;
  hasCounts: boolean;
  isEditable: boolean;
  isStatic: boolean;
}

/** How much larger the text of nodes and labels is than these sizes are made for, as users set it in their browser. */
const textScale = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** The nodes of a journey with their places, which stay the same until its shape changes. */
export function useGraphLayout(
  definition: Definition,
  { problems, hasCounts, isEditable, isStatic }: Shown,
): PlacedNode[] {
  const rows = ({ id }: GraphNode) => (problems?.has(id) ? 1 : 0);
  const graph = graphOf(definition);
  // Typing changes the content of steps, and not where they are.
  const shape = JSON.stringify([
    graph.map((node) => [node.id, rows(node), node.exits.map(({ key, label: text, target }) => [key, text, target])]),
    isEditable,
    hasCounts,
    isStatic,
  ]);
  const places = useMemo(
    () => {
      const scale = textScale();
      return placeNodes(graph, {
        node: (node) => ({ width: (isStatic ? STATIC_WIDTH : WIDTH) * scale, height: (62 + 19 * rows(node)) * scale }),
        label: ({ label: text }) => ({
          width:
            (Math.min(LABEL, text === '' ? 0 : text.length * 7.5 + 20) + (hasCounts ? 44 : 0)) * scale +
            (isEditable ? 28 : 0),
          height: isEditable || hasCounts || text !== '' ? 26 * scale : 0,
        }),
        gap: isStatic ? 20 : 36,
      });
    },
    // The shape stands for all that decides where nodes are.
    // oxlint-disable-next-line react/exhaustive-deps
    [shape],
  );
  return useMemo(() => {
    const byId = new Map(definition.steps.map((each) => [each.id, each]));
    return places.map((node) => ({ ...node, step: byId.get(node.id) }));
  }, [places, definition.steps]);
}

/** Shows as much of the graph from its top as fits legibly, the entry in the middle. */
export function initialViewport(placed: readonly PlacedNode[], wrapper: HTMLElement | null) {
  const room = wrapper?.clientWidth ?? 800;
  const [left, right] = [Math.min(...placed.map(({ x }) => x)), Math.max(...placed.map(({ x, width }) => x + width))];
  const zoom = Math.min(1, Math.max(0.7, (room - 2 * MARGIN) / (right - left)));
  const fits = (right - left) * zoom <= room - 2 * MARGIN;
  return { x: room / 2 - (fits ? ((left + right) / 2) * zoom : 0), y: MARGIN, zoom };
}

/** By how much to move what begins at a place, so that it is between two others; its beginning, if it has no room. */
export function shiftToFit(from: number, size: number, start: number, end: number): number {
  if (from < start) return start - from;
  return from + size > end ? Math.max(end - from - size, start - from) : 0;
}

/** The size of the whole graph, and where its origin is. */
export function graphBounds(placed: readonly PlacedNode[]) {
  const labels = placed.flatMap(({ exits }) => exits.map(({ labelAt }) => labelAt.x));
  const left = Math.min(...placed.map(({ x }) => x), ...labels.map((x) => x - LABEL / 2));
  const right = Math.max(...placed.map(({ x, width }) => x + width), ...labels.map((x) => x + LABEL / 2));
  const bottom = Math.max(...placed.map(({ y, height }) => y + height));
  const width = right - left + 2 * MARGIN;
  return { x: MARGIN - left, y: MARGIN, width, height: bottom + 2 * MARGIN };
}

/** How near to a place a step is dropped to be moved there, in pixels. */
const NEAR = 110;

export function nearestPlace(placed: readonly PlacedNode[], { id, x, y }: { id: string; x: number; y: number }) {
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

export function flowNode(placed: PlacedNode, canDrag: boolean): FlowNode {
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
    draggable: canDrag && step !== undefined,
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

export const flowEdge = (placed: PlacedEdge): FlowEdge => ({
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
