import { Button, Group, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconCheck, IconHistory, IconSend } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { FormProblem } from '../../components/form.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { MailEditor } from '../../components/mail-editor.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useSingleRun } from '../../components/use-single-run.ts';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { TemplateState } from './templates.tsx';
import { ConfirmPublish, DraftNotice, usePublish } from './template-draft.tsx';
import { TemplateMenu } from './template-menu.tsx';
import { newestOf, TEMPLATE, type TemplateRow } from './template-row.ts';
import { TestTemplate } from './test-send.tsx';

const UPDATE = graphql(`
  mutation UpdateTemplate($id: ID!, $input: UpdateTemplateInput!) {
    updateTemplate(id: $id, input: $input) {
      id
      updatedAt
      draft {
        id
      }
    }
  }
`);

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

function contentOf(template: TemplateRow) {
  const { subject, body, source } = newestOf(template);
  return { name: template.name, subject: subject ?? '', body: source ?? body };
}

/** The name of the item being edited. */
const FIELD_LABELS = { name: 'name', subject: 'subject', body: 'content' };

function Editor({ template, back }: { template: TemplateRow; back: React.ReactNode }) {
  const { id, updatedAt, publishedVersion, draft } = template;
  const { format } = newestOf(template);
  const update = useApiMutation(UPDATE);
  const edited = useVersionedForm({ content: contentOf(template), version: template.updatedAt }, { mutation: update });
  const { content, set, conflict } = edited;
  const [asking, setAsking] = useState<'publish' | 'test'>();
  const close = () => setAsking(undefined);
  const canWrite = usePermission('write');
  const readOnly = !canWrite || conflict?.seesTheirs === true;
  const { id: projectId } = useProject();
  const changed = !edited.isSaved;
  useUnsavedChanges(changed);
  const save = (tells = false) =>
    edited.save(async ({ name, subject, body }, base) => {
      const input = { name, subject: subject.trim() === '' ? null : subject, body, format, updatedAt: String(base) };
      const saved = (await update.run({ id, input }))?.updateTemplate;
      // A new name applies at once.
      if (saved !== undefined && tells)
        notifySuccess(saved.draft === null ? 'Saved.' : 'Saved as a draft. Publish it to send it.');
      return saved?.updatedAt;
    });
  const saveAndTell = () => void save(true);
  const getUpdatedAt = () => String(edited.getVersion());
  const publishing = usePublish(template, getUpdatedAt, close);
  const [isPublishing, runOnce] = useSingleRun();
  const saveFirst = (next: () => unknown) =>
    runOnce(async () => {
      if (!changed || (await save())) await next();
    });
  const publish = () =>
    void saveFirst(async () => {
      if (template.scheduledCampaigns.length > 0) setAsking('publish');
      else await publishing.run();
    });
  useHotkeys([['mod+S', () => changed && !readOnly && saveAndTell()]], [], true);
  const problem = edited.problem ?? publishing.problem;
  return (
    <Page
      title={template.name}
      width={1560}
      back={back}
      mark={<TemplateState template={template} />}
      about={
        changed ? (
          'Not saved yet.'
        ) : (
          <>
            Version {template.version}, saved <When at={updatedAt} />.
            {draft !== null && ` Version ${publishedVersion} is published.`}
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
          {canWrite && (
            <>
              <TemplateMenu template={template} />
              <Button
                variant="default"
                leftSection={<IconSend size={16} aria-hidden />}
                disabled={conflict !== undefined}
                onClick={() => void saveFirst(() => setAsking('test'))}
              >
                Send test email
              </Button>
              <Button
                variant="default"
                loading={update.running}
                disabled={!changed || conflict !== undefined}
                onClick={saveAndTell}
              >
                Save draft
              </Button>
              <Button
                leftSection={<IconCheck size={16} aria-hidden />}
                loading={isPublishing || publishing.running}
                disabled={conflict !== undefined || (!changed && template.version === publishedVersion)}
                onClick={publish}
              >
                Publish
              </Button>
            </>
          )}
        </>
      }
    >
      <ConflictAlert conflict={conflict} of={template} labels={FIELD_LABELS} onKeep={saveAndTell} />
      <FormProblem problem={problem} fields={['name', 'subject']} />
      {draft !== null && <DraftNotice template={template} getUpdatedAt={getUpdatedAt} readOnly={readOnly} />}
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
          Campaigns send the version that is published when they start, and transactional email the one published now.
          Campaigns add an unsubscribe link and the project’s postal address if the template has none.
        </Text>
      </Group>
      <ConfirmPublish template={template} opened={asking === 'publish'} onClose={close} publishing={publishing} />
      <TestTemplate templateId={id} opened={asking === 'test'} onClose={close} />
    </Page>
  );
}
