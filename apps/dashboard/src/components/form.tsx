import { Alert, Button, Group } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type ReactNode, useEffect } from 'react';
import type { Problem } from '../data/problem.ts';

/** Puts what the server says of single fields beside them; the form keeps what was typed. */
export function useFieldProblems<Values extends Record<string, unknown>>(
  { setErrors }: Pick<UseFormReturnType<Values>, 'setErrors'>,
  problem: Problem | undefined,
): void {
  useEffect(() => {
    if (problem !== undefined) setErrors(problem.fields);
    // The form is another object each time; its functions do the same.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [problem]);
}

/** Why the server refused, unless each reason stands beside a field of the form. */
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

/** A refusal that is a sentence, such as those of the sign-in endpoints. */
export function FormError({ children }: { children: string | undefined }) {
  if (children === undefined) return null;
  return (
    <Alert color="red" role="alert" icon={<IconAlertTriangle aria-hidden />}>
      {children}
    </Alert>
  );
}

/** The buttons under a form: the one that does it is the last. */
export function FormButtons({
  submit,
  running,
  color,
  disabled = false,
  children,
}: {
  submit: string;
  running: boolean;
  color?: string;
  disabled?: boolean;
  /** Other buttons, such as Cancel. */
  children?: ReactNode;
}) {
  return (
    <Group justify="flex-end" gap="xs">
      {children}
      <Button type="submit" loading={running} color={color} disabled={disabled}>
        {submit}
      </Button>
    </Group>
  );
}

/** Names the boxes of a six-digit code one by one: a name given to `PinInput` itself would be that of their frame. */
export const digitProps = (index: number) => ({ 'aria-label': `Digit ${index + 1} of 6` });
