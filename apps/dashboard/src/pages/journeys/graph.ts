import { Graph as DagreGraph, layout } from '@dagrejs/dagre';
import { exitsOf, type Place } from './definition.ts';
import type { Definition, Exit, Step } from './definition-types.ts';

/** The id of the node of the entry. Ids of steps have no colon. */
export const ENTRY = ':entry';

/** The entry, a step, or an end of a journey. */
export interface GraphNode {
  id: string;
  /** Undefined for the entry and ends. */
  step?: Step | undefined;
  exits: GraphEdge[];
}

/** Where an exit leads. */
export interface GraphEdge extends Omit<Exit, 'to'> {
  id: string;
  source: string;
  target: string;
  place: Place;
}

const isEnd = ({ id }: { id: string }) => id.startsWith(':end');

/** The nodes of a journey in reading order: depth first, then the steps that nothing leads to. Each way that ends has its own end. */
export function graphOf({ steps }: Definition): GraphNode[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const seen = new Map<string, GraphNode>();
  const edge = (source: string, { to, ...exit }: Exit, place: Place): GraphEdge => {
    const id = `${source}>${exit.key}`;
    return { ...exit, id, source, place, target: to !== null && byId.has(to) ? to : `:end ${id}` };
  };
  const nodeOf = (id: string): GraphNode => {
    const step = byId.get(id);
    if (id === ENTRY) {
      const first = { key: 'first', label: '', to: steps[0]?.id ?? null };
      return { id, exits: [edge(id, first, 'start')] };
    }
    if (step === undefined) return { id, exits: [] };
    return { id, step, exits: exitsOf(step).map((exit) => edge(id, exit, { stepId: id, key: exit.key })) };
  };
  for (const start of [ENTRY, ...byId.keys()]) {
    const ahead = [start];
    for (let id = ahead.pop(); id !== undefined; id = ahead.pop()) {
      if (seen.has(id)) continue;
      const node = nodeOf(id);
      seen.set(id, node);
      ahead.push(...node.exits.map(({ target }) => target).toReversed());
    }
  }
  return [...seen.values()];
}

export interface Point {
  x: number;
  y: number;
}

/** A node with its place: its left upper corner, in pixels from the middle of the top of the entry. */
export interface PlacedNode extends GraphNode {
  x: number;
  y: number;
  width: number;
  height: number;
  exits: PlacedEdge[];
}

export interface PlacedEdge extends GraphEdge {
  /** The middle of its label. */
  labelAt: Point;
  /** The way from the lower border of the source to the upper border of the target. */
  path: string;
  /** How far from the left the edge leaves its source, from 0 to 1. */
  from: number;
}

export interface Size {
  width: number;
  height: number;
}

/** The sizes of what is laid out. */
export interface Sizes {
  node: (node: GraphNode) => Size;
  label: (edge: GraphEdge) => Size;
  /** Between ranks and between nodes of a rank. */
  gap: number;
}

export const END_SIZE: Size = { width: 56, height: 28 };

/** Places nodes from top to bottom, those that share a rank next to each other, with room for the labels of edges. */
export function placeNodes(nodes: readonly GraphNode[], { node: sizeOf, label, gap }: Sizes): PlacedNode[] {
  const graph = new DagreGraph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', ranksep: gap, nodesep: gap, edgesep: gap / 2 });
  for (const node of nodes) graph.setNode(node.id, { ...(isEnd(node) ? END_SIZE : sizeOf(node)) });
  for (const edge of nodes.flatMap(({ exits }) => exits))
    graph.setEdge(edge.source, edge.target, { ...label(edge), labelpos: 'c' }, edge.key);
  layout(graph, { constraints: sideBySide(nodes) });
  const at = (id: string) => graph.node(id) as Point & Size;
  const origin = at(ENTRY);
  const move = ({ x, y }: Point): Point => ({ x: x - origin.x, y: y - origin.y + origin.height / 2 });
  const boxOf = (id: string) => ({ ...at(id), ...move(at(id)) });
  return nodes.map((node) => {
    const box = boxOf(node.id);
    const placed = node.exits.map((edge) => {
      const {
        points = [],
        x,
        y,
      } = graph.edge({ v: edge.source, w: edge.target, name: edge.key }) as Partial<Point> & {
        points?: Point[];
      };
      const inner = points.slice(1, -1).map(move);
      const middle = x === undefined || y === undefined ? inner[Math.floor(inner.length / 2)] : move({ x, y });
      return { edge, inner, middle: middle ?? { x: box.x, y: box.y + box.height } };
    });
    // Exits leave a step in their order from left to right, so that they do not cross.
    const order = placed.toSorted((one, other) => one.middle.x - other.middle.x);
    const exits = placed.map((each): PlacedEdge => {
      const from = (order.indexOf(each) + 1) / (placed.length + 1);
      const start = { x: box.x + box.width * (from - 0.5), y: box.y + box.height / 2 };
      const path = pathOf(start, each.inner, { box, target: boxOf(each.edge.target) });
      return { ...each.edge, from, labelAt: each.middle, path };
    });
    return {
      ...node,
      exits,
      x: box.x - box.width / 2,
      y: box.y - box.height / 2,
      width: box.width,
      height: box.height,
    };
  });
}

/** What follows the ways of a step stays in their order from left to right, where reading order allows it: so nothing contradicts. */
function sideBySide(nodes: readonly GraphNode[]): { left: string; right: string }[] {
  const order = new Map(nodes.map(({ id }, index) => [id, index]));
  const isBefore = (left: string, right: string) => (order.get(left) ?? 0) < (order.get(right) ?? 0);
  return nodes.flatMap(({ exits }) =>
    exits.flatMap(({ target: left }, index) =>
      exits.slice(index + 1).flatMap(({ target: right }) => (isBefore(left, right) ? [{ left, right }] : [])),
    ),
  );
}

type Box = Point & Size;

/** Around a step on the way back, in pixels. */
const AROUND = 22;

/** Down through the points in curves; up, for a way back to an earlier step, around both steps. */
function pathOf(start: Point, inner: readonly Point[], { box, target }: { box: Box; target: Box }): string {
  const end = { x: target.x, y: target.y - target.height / 2 };
  if (end.y > start.y) {
    const points = [start, ...inner, end];
    return points
      .map(({ x, y }, index) => {
        const before = points[index - 1];
        if (before === undefined) return `M${x},${y}`;
        const half = (before.y + y) / 2;
        return `C${before.x},${half} ${x},${half} ${x},${y}`;
      })
      .join('');
  }
  const side = (of: Box, near: Point | undefined) => {
    const sign = near !== undefined && near.x < of.x ? -1 : 1;
    return of.x + sign * (of.width / 2 + AROUND);
  };
  const [out, back] = [side(box, inner[0]), side(target, inner.at(-1))];
  const isLoop = box.x === target.x && box.y === target.y;
  return rounded([
    start,
    { x: start.x, y: start.y + AROUND / 2 },
    { x: out, y: start.y + AROUND / 2 },
    { x: out, y: box.y - box.height / 2 },
    ...(isLoop ? [] : inner),
    { x: back, y: target.y + target.height / 2 },
    { x: back, y: end.y - AROUND },
    { x: end.x, y: end.y - AROUND },
    end,
  ]);
}

/** A path with rounded corners. */
function rounded(points: readonly Point[]): string {
  const towards = (from: Point, to: Point): Point => {
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    const part = length === 0 ? 0 : Math.min(8, length / 2) / length;
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
  };
  return points
    .map((point, index) => {
      const [before, after] = [points[index - 1], points[index + 1]];
      if (before === undefined) return `M${point.x},${point.y}`;
      if (after === undefined) return `L${point.x},${point.y}`;
      const [enter, leave] = [towards(point, before), towards(point, after)];
      return `L${enter.x},${enter.y}Q${point.x},${point.y} ${leave.x},${leave.y}`;
    })
    .join('');
}

export type Direction = 'up' | 'down' | 'left' | 'right' | 'first' | 'last';

/** The node that an arrow key leads to: along the edges up and down, and to the nearest on that side. Ends are no stops. */
export function neighborOf(nodes: readonly PlacedNode[], id: string, direction: Direction): string | undefined {
  const stops = nodes.filter((node) => !isEnd(node));
  if (direction === 'first') return stops[0]?.id;
  if (direction === 'last') return stops.at(-1)?.id;
  const node = stops.find((each) => each.id === id);
  if (node === undefined) return stops[0]?.id;
  const isStop = (other: string) => stops.some((each) => each.id === other);
  if (direction === 'down') return node.exits.map(({ target }) => target).find(isStop);
  const leadingHere = stops.filter(({ exits }) => exits.some(({ target }) => target === id));
  if (direction === 'up') return (leadingHere.find(({ y }) => y < node.y) ?? leadingHere[0])?.id;
  const sign = direction === 'left' ? -1 : 1;
  const across = (other: PlacedNode) => sign * (other.x + other.width / 2 - node.x - node.width / 2);
  const down = (other: PlacedNode) => Math.abs(other.y - node.y);
  const distance = (other: PlacedNode) => across(other) + 3 * down(other);
  return stops
    .filter((other) => across(other) > 1 && down(other) < 200)
    .toSorted((one, other) => distance(one) - distance(other))[0]?.id;
}
