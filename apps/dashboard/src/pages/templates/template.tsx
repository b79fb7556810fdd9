import { Button, Group, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconCheck, IconHistory } from '@tabler/icons-react';
import { useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { useMay, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { TemplateQuery } from '../../generated/graphql.ts';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { FormProblem } from '../../components/form.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { MailEditor } from '../../components/mail-editor.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { notifySuccess, notifyError } from '../../components/notify.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { TemplateState } from './templates.tsx';

const TEMPLATE = graphql(`
  query Template($id: ID!) {
    template(id: $id) {
      id
      name
      subject
      body
      format
      source
      status
      version
      updatedAt
      editedById
      editedByName
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateTemplate($id: ID!, $input: UpdateTemplateInput!) {
    updateTemplate(id: $id, input: $input) {
      id
      version
    }
  }
`);

const PUBLISH = graphql(`
  mutation PublishTemplate($id: ID!) {
    publishTemplate(id: $id) {
      id
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteTemplate($id: ID!) {
    templateDelete(id: $id) {
      deletedId
    }
  }
`);

const DUPLICATE = graphql(`
  mutation DuplicateTemplate($input: CreateTemplateInput!) {
    createTemplate(input: $input) {
      id
    }
  }
`);

type TemplateRow = TemplateQuery['template'];

/** The template editor with preview. */
export function Template() {
  const { templateId } = useParams({ from: '/auth/p/$projectId/templates/$templateId' });
  const { id: projectId } = useProject();
  const template = useApiQuery(TEMPLATE, { id: templateId });
  const row = template.data?.template;
  const back = (
    <TextLink to="/p/$projectId/templates" params={{ projectId }} size="sm">
      <BackLabel>Templates</BackLabel>
    </TextLink>
  );
  if (row !== undefined) return <Editor key={row.id} template={row} back={back} />;
  return (
    <Page title="Template" back={back}>
      <QueryResult of={template}>{() => null}</QueryResult>
    </Page>
  );
}

const contentOf = ({ name, subject, body, source }: TemplateRow) => ({
  name,
  subject: subject ?? '',
  body: source ?? body,
});

/** The name of the item being edited. */
const FIELD_WORDS = { name: 'name', subject: 'subject', body: 'content' };

function Editor({ template, back }: { template: TemplateRow; back: React.ReactNode }) {
  const { id, status, updatedAt, format } = template;
  const update = useApiMutation(UPDATE);
  const publish = useApiMutation(PUBLISH);
  const edited = useVersionedForm({ content: contentOf(template), version: template.version });
  const { content, set, conflict } = edited;
  const may = useMay();
  const readOnly = !may('write') || conflict?.seesTheirs === true;
  const { id: projectId } = useProject();
  const changed = !edited.isSaved;
  useBlocker({
    shouldBlockFn: () => changed && !window.confirm('You have unsaved changes. Leave anyway?'),
    enableBeforeUnload: () => changed,
  });
  const save = (told?: string) =>
    edited.save(async ({ name, subject, body }, version) => {
      const input = { name, subject: subject.trim() === '' ? null : subject, body, format, version: Number(version) };
      const data = await update.run({ id, input });
      if (data !== undefined && told !== undefined) notifySuccess(told);
      return data?.updateTemplate.version;
    });
  const saveAndTell = () => void save('Saved.');
  const saveAndPublish = async () => {
    if (changed && !(await save())) return;
    if ((await publish.run({ id })) !== undefined) notifySuccess('Template published.');
  };
  useHotkeys([['mod+S', () => changed && !readOnly && saveAndTell()]], [], true);
  const problem = update.problem?.fields.version === undefined ? (update.problem ?? publish.problem) : undefined;
  return (
    <Page
      title={template.name}
      width={1560}
      back={back}
      mark={<TemplateState status={status} />}
      about={
        changed ? (
          'Not saved yet.'
        ) : (
          <>
            Version {edited.version}, saved <When at={updatedAt} />.
          </>
        )
      }
      actions={
        <>
          <ButtonLink
            variant="default"
            to="/p/$projectId/templates/$templateId/versions"
            params={{ projectId, templateId: id }}
            leftSection={<IconHistory size={16} aria-hidden />}
          >
            Versions
          </ButtonLink>
          {may('write') && (
            <>
              <More template={template} />
              <Button
                variant={status === 'draft' ? 'default' : 'filled'}
                loading={update.running}
                disabled={!changed || conflict !== undefined}
                onClick={saveAndTell}
              >
                Save
              </Button>
              {status === 'draft' && (
                <Button
                  leftSection={<IconCheck size={16} aria-hidden />}
                  loading={publish.running}
                  disabled={conflict !== undefined}
                  onClick={() => void saveAndPublish()}
                >
                  Publish
                </Button>
              )}
            </>
          )}
        </>
      }
    >
      <ConflictAlert conflict={conflict} of={template} words={FIELD_WORDS} onKeep={saveAndTell} />
      <FormProblem problem={problem} fields={['name', 'subject']} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label="Name"
          value={content.name}
          error={problem?.fields.name}
          readOnly={readOnly}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Subject"
          placeholder="Hello {{name|there}}"
          value={content.subject}
          error={problem?.fields.subject}
          readOnly={readOnly}
          onChange={(event) => set({ subject: event.currentTarget.value })}
        />
      </SimpleGrid>
      <MailEditor value={content.body} format={format} readOnly={readOnly} onChange={(body) => set({ body })} />
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          Campaigns use the template as of their start, and transactional email uses the current version, so saving a
          published template affects new email immediately. An unsubscribe link is added to campaigns if the template
          has none.
        </Text>
      </Group>
    </Page>
  );
}

function More({ template }: { template: TemplateRow }) {
  const { id, name } = template;
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useApiMutation(DELETE);
  const create = useApiMutation(DUPLICATE);
  const duplicate = async () => {
    const { subject, body, source, format } = template;
    const input = { name: `${name.slice(0, 190)} (copy)`, subject, body: source ?? body, format };
    const data = await create.run({ input });
    if (data === undefined) {
      notifyError('The template could not be duplicated. A copy with that name may already exist.');
      return;
    }
    notifySuccess('Duplicated. You are editing the copy.');
    const params = { projectId, templateId: data.createTemplate.id };
    void navigate({ to: '/p/$projectId/templates/$templateId', params });
  };
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/templates', params: { projectId }, ignoreBlocker: true });
  };
  return (
    <MoreMenu
      name={name}
      duplicate={{ run: () => void duplicate(), running: create.running }}
      remove={{
        title: 'Delete this template?',
        about:
          'Its versions are deleted too, and drafts that use it lose their content. Sent campaigns are not affected.',
        run: () => void confirm(),
        running: remove.running,
        problem: remove.problem,
      }}
    />
  );
}
