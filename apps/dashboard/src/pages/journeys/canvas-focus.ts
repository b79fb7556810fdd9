import type { ReactFlowInstance } from '@xyflow/react';
import { useRef, useState } from 'react';
import { type FlowEdge, type FlowNode, graphBounds, MARGIN, shiftToFit } from './canvas-layout.ts';
import type { CanvasState } from './canvas-state.ts';
import { ENTRY, type PlacedNode, type Point, type Size } from './graph.ts';

/** The height of what stays at the top of the window, in pixels. */
const HEADER = 56;

/** Which node of the canvas is in the tab order, how it gets the focus, and how a part of the graph comes into view. */
export function useFocus(placed: readonly PlacedNode[], isStatic: boolean) {
  const wrapper = useRef<HTMLDivElement>(null);
  const flow = useRef<ReactFlowInstance<FlowNode, FlowEdge>>(null);
  const awaited = useRef<string>(undefined);
  const fitted = useRef<number>(undefined);
  const [active, setActive] = useState(ENTRY);
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
    fitWidth();
    const node = placed.find((each) => each.id === id);
    if (node !== undefined) reveal(node);
  };
  /** Pans the graph, if it has room, into a canvas that a panel next to it has made narrower. */
  const fitWidth = () => {
    const [{ current: instance }, room] = [flow, wrapper.current?.clientWidth];
    if (isStatic || instance === null || room === undefined || room === fitted.current) return;
    fitted.current = room;
    const { x, y, zoom } = instance.getViewport();
    const whole = graphBounds(placed);
    if (whole.width * zoom > room) return;
    void instance.setViewport({ x: x + shiftToFit(x - whole.x * zoom, whole.width * zoom, 0, room), y, zoom });
  };
  /** Pans the graph and scrolls the page as little as brings a part of the graph into view. */
  const reveal = ({ x: left, y: top, width, height }: Point & Size) => {
    const [{ current: instance }, box] = [flow, wrapper.current?.getBoundingClientRect()];
    if (instance === null || box === undefined) return;
    const { x, y, zoom } = instance.getViewport();
    const scrolled = isStatic ? (wrapper.current?.scrollLeft ?? 0) : 0;
    const across = shiftToFit(left * zoom + x - scrolled, width * zoom, MARGIN, box.width - MARGIN);
    const down = isStatic ? 0 : shiftToFit(top * zoom + y, height * zoom, MARGIN, box.height - MARGIN);
    if (isStatic) wrapper.current?.scrollBy({ left: -across });
    else if (across !== 0 || down !== 0) void instance.setViewport({ x: x + across, y: y + down, zoom });
    const at = box.top + top * zoom + y + down;
    window.scrollBy({ top: -shiftToFit(at, height * zoom, HEADER + MARGIN, window.innerHeight - MARGIN) });
  };
  return { wrapper, flow, current, setActive, focus, show, reveal, drawn };
}

const buttonOf = (wrapper: HTMLElement | null, id: string) =>
  wrapper?.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"]`);
