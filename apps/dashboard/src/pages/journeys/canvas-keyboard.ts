import type { RefObject } from 'react';
import { flushSync } from 'react-dom';
import { LABEL } from './canvas-layout.ts';
import type { CanvasEdit, CanvasState } from './canvas-state.ts';
import { stepsFromText, stepsToText } from './clipboard.ts';
import { pickSteps, placeAfter } from './definition.ts';
import type { Definition } from './definition-types.ts';
import { type Direction, ENTRY, neighborOf, type PlacedNode, type Point, type Size } from './graph.ts';
import type { Selection } from './selection.tsx';

const KEYS: Record<string, Direction | undefined> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
};

interface Options {
  definition: Definition;
  placed: readonly PlacedNode[];
  selection: Selection;
  edit: CanvasEdit | undefined;
  isStatic: boolean;
  wrapper: RefObject<HTMLElement | null>;
  toggle: (id: string) => void;
  onSelect: (id: string | undefined, byKeyboard: boolean) => void;
  focus: (id: string) => void;
  /** Brings a part of the graph into view. */
  reveal: (part: Point & Size) => void;
}

/** What keys and the clipboard do on the canvas. */
export function useKeyboard({
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
}: Options) {
  const step = (id: string) => placed.find((node) => node.id === id)?.step;
  /** What is meant when a step is focused: the steps that are selected, or else the step. */
  const meant = (id: string) => (selection.ids.length > 0 ? selection.ids : [id]);
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
  return { press, clipboard, remove };
}
