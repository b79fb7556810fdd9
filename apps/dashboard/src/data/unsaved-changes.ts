import { useBlocker, type UseBlockerOpts } from '@tanstack/react-router';
import { createContext, use, useEffect, useEffectEvent } from 'react';
import { isChanging } from './api-mutation.ts';

/** Returns the question to ask before the page is left; undefined if nothing would be lost. It may save the changes first. */
type GetQuestion = () => string | undefined | Promise<string | undefined>;

/** Forms that are left together. */
interface Scope {
  /** Of those with unsaved changes. */
  unsaved: Set<GetQuestion>;
  /** Asks, once for all of them, whether their changes may be lost. */
  mayLeave: () => Promise<boolean>;
}

export function createFormScope(): Scope {
  const unsaved = new Set<GetQuestion>();
  const mayLeave = async () => {
    const questions = await Promise.all([...unsaved].map(async (getQuestion) => getQuestion()));
    const question = questions.find((each) => each !== undefined);
    return question === undefined || window.confirm(question);
  };
  return { unsaved, mayLeave };
}

/** All forms of the page, and of its dialogs. */
const page = createFormScope();

/** The forms of a dialog, which can be closed without leaving the page. */
export const FormScope = createContext<Scope | undefined>(undefined);

export const LEAVE_QUESTION = 'You have unsaved changes. Leave anyway?';

export const hasUnsavedChanges = (): boolean => page.unsaved.size > 0;

/** Leaves the page without a question, as when its user is no longer signed in. */
export const discardUnsavedChanges = (): void => page.unsaved.clear();

/** While a form has unsaved changes, asks before its page is left or its dialog is closed. */
export function useUnsavedChanges(isUnsaved: boolean, getQuestion: GetQuestion = () => LEAVE_QUESTION): void {
  const latest = useEffectEvent(getQuestion);
  const dialog = use(FormScope);
  useEffect(() => {
    if (!isUnsaved) return undefined;
    const form: GetQuestion = () => latest();
    // A form closes its own dialog without a question, so one that is being submitted needs no exception.
    const inDialog = () => LEAVE_QUESTION;
    page.unsaved.add(form);
    dialog?.unsaved.add(inDialog);
    return () => {
      page.unsaved.delete(form);
      dialog?.unsaved.delete(inDialog);
    };
  }, [isUnsaved, dialog]);
}

const GUARD: UseBlockerOpts = {
  shouldBlockFn: async ({ current, next }) => {
    if (current.pathname === next.pathname) return false;
    return !(await page.mayLeave());
  },
  enableBeforeUnload: hasUnsavedChanges,
};

/** Blocks leaving a page with unsaved forms until the user confirms it, once for all of them; see `useUnsavedChanges`. */
export function useNavigationGuard(): void {
  useBlocker(GUARD);
}

/**
 * `useUnsavedChanges` for a Mantine form. Once the server has accepted what was submitted, the form may leave the page without a question;
 * until then the server may refuse it, and the input would be lost.
 */
export function useUnsavedForm({ isDirty, submitting }: { isDirty: () => boolean; submitting: boolean }): void {
  useUnsavedChanges(isDirty(), () => (submitting && !isChanging() ? undefined : LEAVE_QUESTION));
}
