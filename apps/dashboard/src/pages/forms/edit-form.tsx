import { useParams } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { graphql } from '../../generated/gql.ts';
import type { FormToEditQuery } from '../../generated/graphql.ts';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
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
      updatedAt
      editedById
      editedByName
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
      <FormEditor values={NEW_FORM} submit="Create form" mutation={create} onSubmit={submit}>
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

const LABELS = {
  groupIds: 'groups',
  consentText: 'consent',
  doubleOptIn: 'double opt-in',
  replyTo: 'reply-to',
  templateId: 'template',
  reminderAfterHours: 'reminder',
  submittedUrl: 'page after submission',
  confirmedUrl: 'page after confirmation',
  allowedOrigins: 'allowed origins',
};

function Editor({
  form: { id, version, updatedAt, editedById, editedByName, ...saved },
}: {
  form: FormToEditQuery['form'];
}) {
  const { id: projectId } = useProject();
  const update = useApiMutation(UPDATE);
  const edited = useVersionedForm<FormValues>({ content: valuesOf(saved), version }, { mutation: update });
  const { content, set, conflict, problem } = edited;
  const navigate = useNavigate();
  const there = { to: '/p/$projectId/forms/$formId', params: { projectId, formId: id } } as const;
  const save = async () => {
    await edited.save(
      async (values, base) => {
        const data = await update.run({ id, input: { ...inputOf(values), version: Number(base) } });
        if (data === undefined) return undefined;
        notifySuccess('Form saved.');
        return data.updateForm.version;
      },
      () => void navigate({ ...there, ignoreBlocker: true }),
    );
  };
  return (
    <>
      <ConflictAlert
        conflict={conflict}
        of={{ editedById, editedByName, updatedAt }}
        labels={LABELS}
        onKeep={() => void save()}
      />
      <FormEditor
        values={content}
        onChange={set}
        submit="Save"
        isReadOnly={conflict?.seesTheirs}
        disabled={conflict !== undefined}
        mutation={{ running: update.running, problem }}
        onSubmit={save}
      >
        <ButtonLink {...there} variant="default" ignoreBlocker>
          Cancel
        </ButtonLink>
      </FormEditor>
    </>
  );
}

/** What is not set is an empty text. */
const valuesOf = (
  saved: Omit<FormToEditQuery['form'], 'id' | 'version' | 'updatedAt' | 'editedById' | 'editedByName'>,
): FormValues => ({
  ...saved,
  description: saved.description ?? '',
  consentText: saved.consentText ?? '',
  from: saved.from ?? '',
  replyTo: saved.replyTo ?? '',
  subject: saved.subject ?? '',
  templateId: saved.templateId ?? '',
  reminderAfterHours: saved.reminderAfterHours ?? '',
  submittedUrl: saved.submittedUrl ?? '',
  confirmedUrl: saved.confirmedUrl ?? '',
});
