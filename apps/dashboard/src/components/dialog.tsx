import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useId, useState, useSyncExternalStore } from 'react';
import { createFormScope, FormScope } from '../data/unsaved-changes.ts';

/** Key presses that have closed a dialog: the one below is then on top, and must not take them too. */
const handled = new WeakSet<KeyboardEvent>();

/** The open dialogs, the one on top last. */
let stack: readonly string[] = [];
const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function setStack(next: readonly string[]): void {
  stack = next;
  for (const tell of watchers) tell();
}

/** Whether no other dialog covers this one. */
function useIsOnTop(opened: boolean): boolean {
  const id = useId();
  useEffect(() => {
    if (!opened) return undefined;
    setStack([...stack, id]);
    return () => setStack(stack.filter((each) => each !== id));
  }, [opened, id]);
  return useSyncExternalStore(watch, () => stack.at(-1) === id);
}

/**
 * A modal dialog. While a form in it has unsaved changes, Escape, a click outside and the close button ask before they drop them. The
 * buttons of the form don't ask. Escape closes only the dialog on top.
 */
export function Dialog({ onClose, ...props }: ModalProps) {
  const [scope] = useState(createFormScope);
  const isOnTop = useIsOnTop(props.opened);
  const close = async () => {
    if (await scope.mayLeave()) onClose();
  };
  return (
    <FormScope value={scope}>
      <Modal {...props} __handledEscapeEvents={handled} closeOnEscape={isOnTop} onClose={() => void close()} />
    </FormScope>
  );
}
