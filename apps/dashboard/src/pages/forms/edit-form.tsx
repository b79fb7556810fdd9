import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { FormToEditQuery } from '../../generated/graphql.ts';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { FormEditor, type FormValues, NEW_FORM } from './form-editor.tsx';

const FORM = graphql(`
  query FormToEdit($id: ID!) {
    form(id: $id) {
      id
      name
      title
      description
      groupIds
      fields {
        key
        label
        required
      }
      consentText
      doubleOptIn
      from
      replyTo
      subject
      templateId
      reminderAfterHours
      submittedUrl
      confirmedUrl
      allowedOrigins
      version
    }
  }
`);

const CREATE = graphql(`
  mutation CreateForm($input: CreateFormInput!) {
    createForm(input: $input) {
      id
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateForm($id: ID!, $input: UpdateFormInput!) {
    updateForm(id: $id, input: $input) {
      id
      version
    }
  }
`);

/** An empty text clears a setting. */
const inputOf = ({ reminderAfterHours, templateId, ...values }: FormValues) => ({
  ...values,
  title: values.title.trim() === '' ? null : values.title,
  templateId: templateId === '' ? null : templateId,
  reminderAfterHours: reminderAfterHours === '' ? null : Number(reminderAfterHours),
});

/** Creates a form. */
export function NewForm() {
  const { id: projectId } = useProject();
  const create = useApiMutation(CREATE);
  const navigate = useNavigate();
  const submit = async (values: FormValues) => {
    const data = await create.run({ input: inputOf(values) });
    if (data === undefined) return;
    notifySuccess('Form created.');
    void navigate({ to: '/p/$projectId/forms/$formId', params: { projectId, formId: data.createForm.id } });
  };
  return (
    <Page
      title="New form"
      back={
        <TextLink to="/p/$projectId/forms" params={{ projectId }} size="sm">
          <BackLabel>Forms</BackLabel>
        </TextLink>
      }
    >
      <FormEditor initialValues={NEW_FORM} submit="Create form" mutation={create} onSubmit={submit}>
        <ButtonLink to="/p/$projectId/forms" params={{ projectId }} variant="default" ignoreBlocker>
          Cancel
        </ButtonLink>
      </FormEditor>
    </Page>
  );
}

/** Edits a form. */
export function EditForm() {
  const { projectId, formId } = useParams({ from: '/auth/p/$projectId/forms/$formId/edit' });
  const read = useApiQuery(FORM, { id: formId });
  return (
    <Page
      title="Edit form"
      back={
        <TextLink to="/p/$projectId/forms/$formId" params={{ projectId, formId }} size="sm">
          <BackLabel>Form</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={read}>{({ form }) => <Editor form={form} />}</QueryResult>
    </Page>
  );
}

function Editor({ form }: { form: FormToEditQuery['form'] }) {
  const { id: projectId } = useProject();
  // A newer version must not be overwritten by what was written on this one.
  const [{ id, version, ...loaded }] = useState(form);
  const update = useApiMutation(UPDATE);
  const navigate = useNavigate();
  const there = { to: '/p/$projectId/forms/$formId', params: { projectId, formId: id } } as const;
  return (
    <FormEditor
      initialValues={{
        ...loaded,
        description: loaded.description ?? '',
        consentText: loaded.consentText ?? '',
        from: loaded.from ?? '',
        replyTo: loaded.replyTo ?? '',
        subject: loaded.subject ?? '',
        templateId: loaded.templateId ?? '',
        reminderAfterHours: loaded.reminderAfterHours ?? '',
        submittedUrl: loaded.submittedUrl ?? '',
        confirmedUrl: loaded.confirmedUrl ?? '',
      }}
      submit="Save"
      mutation={update}
      onSubmit={async (values) => {
        if ((await update.run({ id, input: { ...inputOf(values), version } })) === undefined) return;
        notifySuccess('Form saved.');
        void navigate(there);
      }}
    >
      <ButtonLink {...there} variant="default" ignoreBlocker>
        Cancel
      </ButtonLink>
    </FormEditor>
  );
}
