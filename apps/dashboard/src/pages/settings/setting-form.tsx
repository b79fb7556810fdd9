import { Card } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { ReactNode } from 'react';
import { usePermission } from '../../app/session.tsx';
import { ApiForm, type ApiFormProps, FormButtons } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';

/** A card with the form of a setting, which can be saved once it differs. Read-only without the right to manage the project. */
export function SettingForm<Values extends Record<string, unknown>>({
  save,
  saved,
  children,
  ...props
}: Omit<ApiFormProps<Values>, 'save' | 'children'> & {
  /** Resolves to undefined if it failed. */
  save: (values: Values, form: UseFormReturnType<Values>) => Promise<unknown>;
  /** Says that it was saved. */
  saved: string;
  /** The fields. */
  children: (form: UseFormReturnType<Values>, readOnly: boolean) => ReactNode;
}) {
  const readOnly = !usePermission('manage');
  const saveAndReport = async (values: Values, form: UseFormReturnType<Values>) => {
    if ((await save(values, form)) === undefined) return;
    // More may have been typed since.
    form.resetDirty(values);
    notifySuccess(saved);
  };
  return (
    <Card>
      <ApiForm
        {...props}
        save={saveAndReport}
        buttons={(form) =>
          !readOnly && (
            <FormButtons submit="Save" running={props.mutation.running || form.submitting} disabled={!form.isDirty()} />
          )
        }
      >
        {(form) => children(form, readOnly)}
      </ApiForm>
    </Card>
  );
}
