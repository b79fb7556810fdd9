import { Alert, Button, Group, Stack } from '@mantine/core';
import { useForm, type UseFormInput, type UseFormReturnType } from '@mantine/form';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import type { ApiMutation } from '../data/api-mutation.ts';
import type { Problem } from '../data/problem.ts';
import { useUnsavedForm } from '../data/unsaved-changes.ts';

export interface ApiFormProps<Values extends Record<string, unknown>> {
  /** The values at first. */
  values: Values;
  validate?: UseFormInput<Values>['validate'];
  mutation: Pick<ApiMutation<unknown, never>, 'running' | 'problem'>;
  /** Runs the mutation with valid values. */
  save: (values: Values, form: UseFormReturnType<Values>) => Promise<unknown>;
  /** Whether fields outside of `values` have unsaved input. */
  hasOtherInput?: boolean;
  /** Fields outside of `values` that show their own problems. */
  otherFields?: readonly string[];
  /** The fields. */
  children: (form: UseFormReturnType<Values>) => ReactNode;
}

/** A form that saves its values by a mutation and shows what is wrong with them. */
export function ApiForm<Values extends Record<string, unknown>>({
  values: initialValues,
  validate,
  mutation: { problem },
  save,
  hasOtherInput = false,
  otherFields = [],
  children,
  buttons,
}: ApiFormProps<Values> & { buttons: (form: UseFormReturnType<Values>) => ReactNode }) {
  const form = useForm<Values>({ initialValues, ...(validate && { validate }) });
  useUnsavedForm({ isDirty: () => hasOtherInput || form.isDirty(), submitting: form.submitting });
  const { ref, showProblem } = useFieldProblems(form, problem);
  return (
    <form ref={ref} onSubmit={form.onSubmit((values) => save(values, form), showProblem)} noValidate>
      <Stack>
        <FormProblem problem={problem} fields={[...Object.keys(initialValues), ...otherFields]} />
        {children(form)}
        {buttons(form)}
      </Stack>
    </form>
  );
}

/** The form of a dialog, with a button that closes it. */
export function DialogForm<Values extends Record<string, unknown>>({
  submit,
  onClose,
  ...props
}: ApiFormProps<Values> & { submit: string; onClose: () => void }) {
  return (
    <ApiForm
      {...props}
      buttons={({ submitting }) => (
        <FormButtons submit={submit} running={props.mutation.running || submitting} onCancel={onClose} />
      )}
    />
  );
}

/**
 * The values that were changed in a form; all of them if none was. A setting saves only these, so that what others have changed meanwhile
 * stays.
 */
export function changedOf<Values extends Record<string, unknown>>(
  values: Values,
  { isDirty }: Pick<UseFormReturnType<Values>, 'isDirty'>,
): Partial<Values> {
  const changed = Object.entries(values).filter(([name]) => isDirty(name as never));
  return changed.length === 0 ? values : (Object.fromEntries(changed) as Partial<Values>);
}

/** Validates a field that must not be blank. */
export const required = (message: string) => (value: string | number) => (`${value}`.trim() === '' ? message : null);

/**
 * Shows the server's field errors next to the fields. The form keeps its input. In a long form the first problem may be out of sight, so its
 * field gets the focus, or the message above the fields is scrolled to: `ref` is for the form, and `showProblem` for problems found before
 * it is sent.
 */
export function useFieldProblems<Values extends Record<string, unknown>>(
  { setErrors }: Pick<UseFormReturnType<Values>, 'setErrors'>,
  problem: Problem | undefined,
): { ref: RefObject<HTMLFormElement | null>; showProblem: () => void } {
  const ref = useRef<HTMLFormElement>(null);
  const isNew = useRef(false);
  const showProblem = () => (isNew.current = true);
  // After the render that follows a problem: before it, the fields are not marked.
  useEffect(() => {
    if (!isNew.current) return;
    isNew.current = false;
    const field = ref.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    if (field) field.focus();
    else ref.current?.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' });
  });
  useEffect(() => {
    if (problem === undefined) return;
    setErrors(problem.fields);
    showProblem();
    // The form is another object each time; its functions do the same.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [problem]);
  return { ref, showProblem };
}

/** The server's error message, unless every problem is shown next to a field. */
export function FormProblem({ problem, fields = [] }: { problem: Problem | undefined; fields?: readonly string[] }) {
  if (problem === undefined) return null;
  const named = Object.keys(problem.fields);
  if (named.length > 0 && named.every((name) => fields.includes(name))) return null;
  return (
    <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />}>
      {problem.message}
      {problem.requestId !== undefined && problem.code === 'internal_error' && ` (request ${problem.requestId})`}
    </Alert>
  );
}

/** A plain error message, such as those of the sign-in endpoints. */
export function FormError({ children }: { children: string | undefined }) {
  if (children === undefined) return null;
  return (
    <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />}>
      {children}
    </Alert>
  );
}

/** Form buttons, with the submit button last. */
export function FormButtons({
  submit,
  running,
  color,
  disabled = false,
  onCancel,
  children,
}: {
  submit: string;
  running: boolean;
  color?: string;
  disabled?: boolean;
  /** Shows a Cancel button first. */
  onCancel?: (() => void) | undefined;
  /** Other buttons. */
  children?: ReactNode;
}) {
  return (
    <Group justify="flex-end" gap="xs">
      {onCancel !== undefined && (
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      )}
      {children}
      <Button type="submit" loading={running} color={color} disabled={disabled}>
        {submit}
      </Button>
    </Group>
  );
}

/** Labels each digit input. A label on `PinInput` itself would apply to the wrapper. */
export const digitProps = (index: number) => ({ 'aria-label': `Digit ${index + 1} of 6` });
