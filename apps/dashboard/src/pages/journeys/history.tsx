import { ActionIcon } from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react';
import { useEffect, useEffectEvent, useState } from 'react';
import type { Definition } from './definition-types.ts';

export interface History {
  /** Changes the definition. Changes in a row with the same `of` are undone together. */
  apply: (next: Definition, of?: string) => void;
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
  /** Changes with each undo and redo, when forms must read the definition again. */
  revision: number;
}

interface State {
  past: Definition[];
  future: Definition[];
  /** What the last change was about. */
  of: string | undefined;
  revision: number;
}

/** Undo and redo of changes to a definition, by buttons and by keyboard. */
export function useHistory(
  definition: Definition,
  set: (definition: Definition) => void,
  isListening: boolean,
): History {
  const [state, setState] = useState<State>({ past: [], future: [], of: undefined, revision: 0 });
  const { past, revision } = state;
  const step = (from: 'past' | 'future', to: 'past' | 'future') => {
    const last = state[from].at(-1);
    if (last === undefined || !isListening) return undefined;
    return () => {
      const changed = { [from]: state[from].slice(0, -1), [to]: [...state[to], definition] };
      setState({ ...state, ...changed, of: undefined, revision: revision + 1 });
      set(last);
    };
  };
  const undo = step('past', 'future');
  const redo = step('future', 'past');
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isText =
      event.target instanceof HTMLElement && event.target.matches('input, textarea, [contenteditable=true]');
    const key = event.key.toLowerCase();
    if (!isListening || isText || !(event.ctrlKey || event.metaKey) || (key !== 'z' && key !== 'y')) return;
    event.preventDefault();
    if (key === 'y' || event.shiftKey) redo?.();
    else undo?.();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
  return {
    apply: (next, of) => {
      const isSame = of !== undefined && of === state.of && past.length > 0;
      setState({ past: isSame ? past : [...past, definition], future: [], of, revision });
      set(next);
    },
    undo,
    redo,
    revision,
  };
}

export function HistoryButtons({ undo, redo }: Pick<History, 'undo' | 'redo'>) {
  return (
    <>
      <ActionIcon size="lg" variant="default" aria-label="Undo" disabled={undo === undefined} onClick={undo}>
        <IconArrowBackUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon size="lg" variant="default" aria-label="Redo" disabled={redo === undefined} onClick={redo}>
        <IconArrowForwardUp size={16} aria-hidden />
      </ActionIcon>
    </>
  );
}
