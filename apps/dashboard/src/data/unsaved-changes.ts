import { useBlocker, type UseBlockerOpts } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/** What to ask before the page is left; undefined if nothing would be lost. */
type Question = () => string | undefined | Promise<string | undefined>;

/** The questions of all forms with unsaved changes. */
const unsaved = new Set<Question>();

export const askToLeave = (): string => 'You have unsaved changes. Leave anyway?';

export const hasUnsavedChanges = (): boolean => unsaved.size > 0;

/** Asks before the page of a form is left while its changes are not saved. The question may save them first. */
export function useUnsavedChanges(isUnsaved: boolean, question: Question = askToLeave): void {
  const ask = useEffectEvent(question);
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const own: Question = () => ask();
    unsaved.add(own);
    return () => void unsaved.delete(own);
  }, [isUnsaved]);
}

const GUARD: UseBlockerOpts = {
  shouldBlockFn: async ({ current, next }) => {
    if (current.pathname === next.pathname) return false;
    const questions = await Promise.all([...unsaved].map(async (question) => question()));
    const question = questions.find((each) => each !== undefined);
    return question !== undefined && !window.confirm(question);
  },
  enableBeforeUnload: hasUnsavedChanges,
};

/** Lets no page be left without the questions of its forms, of which it asks one; see `useUnsavedChanges`. */
export function useLeaveGuard(): void {
  useBlocker(GUARD);
}

/** `useUnsavedChanges` for a form of Mantine, which may leave the page itself while it is submitted. */
export function useUnsavedForm({ isDirty, submitting }: { isDirty: () => boolean; submitting: boolean }): void {
  useUnsavedChanges(isDirty(), () => (submitting ? undefined : askToLeave()));
}
