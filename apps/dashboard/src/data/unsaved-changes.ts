import { useBlocker, type UseBlockerOpts } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/** Returns the question to ask before the page is left; undefined if nothing would be lost. It may save the changes first. */
type GetQuestion = () => string | undefined | Promise<string | undefined>;

/** Of all forms with unsaved changes. */
const unsavedForms = new Set<GetQuestion>();

export const LEAVE_QUESTION = 'You have unsaved changes. Leave anyway?';

export const hasUnsavedChanges = (): boolean => unsavedForms.size > 0;

/** Leaves the page without a question, as when its user is no longer signed in. */
export const discardUnsavedChanges = (): void => unsavedForms.clear();

/** While a form has unsaved changes, asks before its page is left. */
export function useUnsavedChanges(isUnsaved: boolean, getQuestion: GetQuestion = () => LEAVE_QUESTION): void {
  const latest = useEffectEvent(getQuestion);
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const form: GetQuestion = () => latest();
    unsavedForms.add(form);
    return () => void unsavedForms.delete(form);
  }, [isUnsaved]);
}

const GUARD: UseBlockerOpts = {
  shouldBlockFn: async ({ current, next }) => {
    if (current.pathname === next.pathname) return false;
    const questions = await Promise.all([...unsavedForms].map(async (getQuestion) => getQuestion()));
    const question = questions.find((each) => each !== undefined);
    return question !== undefined && !window.confirm(question);
  },
  enableBeforeUnload: hasUnsavedChanges,
};

/** Blocks leaving a page with unsaved forms until the user confirms it, once for all of them; see `useUnsavedChanges`. */
export function useNavigationGuard(): void {
  useBlocker(GUARD);
}

/** `useUnsavedChanges` for a Mantine form. Submitting it may leave the page without a question. */
export function useUnsavedForm({ isDirty, submitting }: { isDirty: () => boolean; submitting: boolean }): void {
  useUnsavedChanges(isDirty(), () => (submitting ? undefined : LEAVE_QUESTION));
}
