import { type ClipboardEvent, createContext, type KeyboardEvent, use } from 'react';
import type { Mark } from './compare.ts';
import type { Counts } from './counts.ts';
import type { Place } from './definition.ts';
import type { Step } from './definition-types.ts';
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

/** What the nodes of a canvas show besides their step. */
export interface CanvasState {
  names: Names;
  entry: string;
  problems: ReadonlyMap<string, readonly string[]> | undefined;
  counts: Counts | undefined;
  marks: ReadonlyMap<string, Mark> | undefined;
  /** The node that the panel shows, or the steps that are selected together. */
  selected: readonly (string | undefined)[];
  /** The node that is in the tab order. */
  active: string;
  edit: CanvasEdit | undefined;
  /** The edge on which a step that is dragged would be dropped. */
  dropPlace: string | undefined;
  setActive: (id: string) => void;
  select: (id: string, byKeyboard: boolean) => void;
  /** Selects a step together with others, or no longer. */
  toggle: (id: string) => void;
  press: (event: KeyboardEvent<HTMLElement>, id: string) => void;
  clipboard: (event: ClipboardEvent<HTMLElement>, id: string) => void;
  /** The button of a node is in the document, or no longer. */
  drawn: (id: string, button: HTMLButtonElement | null) => void;
}

export const CanvasContext = createContext<CanvasState | undefined>(undefined);

export function useCanvas(): CanvasState {
  const state = use(CanvasContext);
  if (state === undefined) throw new Error('A node is outside of a canvas.');
  return state;
}
