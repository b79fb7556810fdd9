import { Button, Group, Menu, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconCheck, IconDots, IconTrash } from '@tabler/icons-react';
import { useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import type { TemplateQuery } from '../../generated/graphql.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { TextLink } from '../../parts/link.tsx';
import { MailEditor } from '../../parts/mail-editor.tsx';
import { tell } from '../../parts/notify.tsx';
import { BackLabel, Page } from '../../parts/page.tsx';
import { Answer } from '../../parts/states.tsx';
import { When } from '../../parts/when.tsx';
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
      updatedAt
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateTemplate($id: ID!, $input: UpdateTemplateInput!) {
    updateTemplate(id: $id, input: $input) {
      id
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
    deleteTemplate(id: $id)
  }
`);

type TemplateRow = TemplateQuery['template'];

/** Writes one template, and shows how it looks. */
export function Template() {
  const { templateId } = useParams({ from: '/gate/p/$projectId/templates/$templateId' });
  const { id: projectId } = useProject();
  const template = useRead(TEMPLATE, { id: templateId });
  const row = template.data?.template;
  const back = (
    <TextLink to="/p/$projectId/templates" params={{ projectId }} size="sm">
      <BackLabel>Templates</BackLabel>
    </TextLink>
  );
  if (row !== undefined) return <Editor key={row.id} template={row} back={back} />;
  return (
    <Page title="Template" back={back}>
      <Answer of={template}>{() => null}</Answer>
    </Page>
  );
}

const contentOf = ({ name, subject, body, source }: TemplateRow) => ({
  name,
  subject: subject ?? '',
  body: source ?? body,
});

function Editor({ template, back }: { template: TemplateRow; back: React.ReactNode }) {
  const { id, status, updatedAt, format } = template;
  const update = useChange(UPDATE);
  const publish = useChange(PUBLISH);
  const [content, setContent] = useState(() => contentOf(template));
  const [saved, setSaved] = useState(content);
  const may = useMay();
  const changed = JSON.stringify(content) !== JSON.stringify(saved);
  useBlocker({
    shouldBlockFn: () => changed && !window.confirm('What you changed is not saved. Leave anyway?'),
    enableBeforeUnload: () => changed,
  });
  const save = async () => {
    const { name, subject, body } = content;
    const input = { name, subject: subject.trim() === '' ? null : subject, body, format };
    if ((await update.run({ id, input })) === undefined) return false;
    setSaved(content);
    return true;
  };
  const saveAndTell = async () => {
    if (await save()) tell('Saved.');
  };
  const saveAndPublish = async () => {
    if (changed && !(await save())) return;
    if ((await publish.run({ id })) !== undefined) tell('The template is published.');
  };
  useHotkeys([['mod+S', () => void saveAndTell()]], [], true);
  const set = (part: Partial<typeof content>) => setContent((before) => ({ ...before, ...part }));
  const problem = update.problem ?? publish.problem;
  return (
    <Page
      title={saved.name}
      width={1560}
      back={back}
      mark={<TemplateState status={status} />}
      about={
        changed ? (
          'Not saved yet.'
        ) : (
          <>
            Saved <When at={updatedAt} />.
          </>
        )
      }
      actions={
        may('write') && (
          <>
            <More template={template} />
            <Button
              variant={status === 'draft' ? 'default' : 'filled'}
              loading={update.running}
              disabled={!changed}
              onClick={() => void saveAndTell()}
            >
              Save
            </Button>
            {status === 'draft' && (
              <Button
                leftSection={<IconCheck size={16} aria-hidden />}
                loading={publish.running}
                onClick={() => void saveAndPublish()}
              >
                Publish
              </Button>
            )}
          </>
        )
      }
    >
      <FormProblem problem={problem} fields={['name', 'subject']} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label="Name"
          value={content.name}
          error={problem?.fields.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Subject"
          placeholder="Hello {{name|there}}"
          value={content.subject}
          error={problem?.fields.subject}
          onChange={(event) => set({ subject: event.currentTarget.value })}
        />
      </SimpleGrid>
      <MailEditor
        label={format === 'mjml' ? 'MJML' : 'HTML'}
        value={content.body}
        readOnly={!may('write')}
        onChange={(body) => set({ body })}
      />
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          Campaigns send a template as it is when they start. Its links and images are its own; an unsubscribe link is
          added to campaigns if it has none.
        </Text>
      </Group>
    </Page>
  );
}

function More({ template: { id, name } }: { template: TemplateRow }) {
  const [deleting, setDeleting] = useState(false);
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useChange(DELETE);
  const confirm = async () => {
    if ((await remove.run({ id })) === undefined) return;
    tell(`${name} was deleted.`);
    void navigate({ to: '/p/$projectId/templates', params: { projectId }, ignoreBlocker: true });
  };
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" px={9} aria-label={`More for ${name}`}>
            <IconDots size={18} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setDeleting(true)}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this template?"
        action="Delete"
        word={name}
        running={remove.running}
        problem={remove.problem}
        onConfirm={() => void confirm()}
      >
        Drafts that use it lose their content. Campaigns that were sent keep theirs.
      </Confirm>
    </>
  );
}
