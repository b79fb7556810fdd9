import { Card, Stack } from '@mantine/core';
import { useForm, type UseFormInput, type UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { useMay } from '../../app/session.tsx';
import type { ApiMutation } from '../../data/api-mutation.ts';
import { FormButtons, FormProblem, useFieldProblems } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';

/** A card with the form of a setting, which can be saved once it differs. Read-only without the right to manage the project. */
export function SettingForm<Values extends Record<string, unknown>>({
  values: initialValues,
  validate,
  mutation: { running, problem },
  save,
  saved,
  children,
}: {
  values: Values;
  validate?: UseFormInput<Values>['validate'];
  mutation: Pick<ApiMutation<unknown, never>, 'running' | 'problem'>;
  /** Resolves to undefined if it failed. */
  save: (values: Values) => Promise<unknown>;
  /** Says that it was saved. */
  saved: string;
  /** The fields. */
  children: (form: UseFormReturnType<Values>, readOnly: boolean) => ReactNode;
}) {
  const readOnly = !useMay()('manage');
  const form = useForm<Values>({ initialValues, ...(validate && { validate }) });
  useFieldProblems(form, problem);
  const submit = form.onSubmit(async (values) => {
    if ((await save(values)) === undefined) return;
    form.resetDirty();
    notifySuccess(saved);
  });
  return (
    <Card>
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormProblem problem={problem} fields={Object.keys(initialValues)} />
          {children(form, readOnly)}
          {!readOnly && <FormButtons submit="Save" running={running} disabled={!form.isDirty()} />}
        </Stack>
      </form>
    </Card>
  );
}
