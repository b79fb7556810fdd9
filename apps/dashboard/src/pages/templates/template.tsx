import { Alert, Button, Group, Menu, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconCheck, IconCopy, IconDots, IconHistory, IconTrash } from '@tabler/icons-react';
import { useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useProject } from '../../app/session.tsx';
import { useChange } from '../../data/change.ts';
import { useRead } from '../../data/read.ts';
import { graphql } from '../../generated/gql.ts';
import type { TemplateQuery } from '../../generated/graphql.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormProblem } from '../../parts/form.tsx';
import { ButtonLink, TextLink } from '../../parts/link.tsx';
import { MailEditor } from '../../parts/mail-editor.tsx';
import { tell, warn } from '../../parts/notify.tsx';
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
      version
      updatedAt
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
      version
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteTemplate($id: ID!) {
    deleteTemplate(id: $id)
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
  // What is written here was written on this version; somebody else may have saved another since.
  const [base, setBase] = useState(template.version);
  const may = useMay();
  const { id: projectId } = useProject();
  const changed = JSON.stringify(content) !== JSON.stringify(saved);
  useBlocker({
    shouldBlockFn: () => changed && !window.confirm('What you changed is not saved. Leave anyway?'),
    enableBeforeUnload: () => changed,
  });
  const save = async (version: number | null) => {
    const { name, subject, body } = content;
    const input = { name, subject: subject.trim() === '' ? null : subject, body, format, version };
    const data = await update.run({ id, input });
    if (data === undefined) return false;
    setSaved(content);
    setBase(data.updateTemplate.version);
    return true;
  };
  const saveAndTell = async (version: number | null = base) => {
    if (await save(version)) tell('Saved.');
  };
  const saveAndPublish = async () => {
    if (changed && !(await save(base))) return;
    const data = await publish.run({ id });
    if (data === undefined) return;
    setBase(data.publishTemplate.version);
    tell('The template is published.');
  };
  useHotkeys([['mod+S', () => changed && may('write') && void saveAndTell()]], [], true);
  // Nothing of this page would be lost, so it shows what somebody else has saved.
  if (!changed && template.version > base) {
    const now = contentOf(template);
    setContent(now);
    setSaved(now);
    setBase(template.version);
  }
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
            Version {base}, saved <When at={updatedAt} />.
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
          )}
        </>
      }
    >
      {problem?.fields.version === undefined ? (
        <FormProblem problem={problem} fields={['name', 'subject']} />
      ) : (
        <Alert color="yellow" role="alert" title="Somebody else has saved it meanwhile">
          <Stack gap="xs" align="flex-start">
            <Text size="sm">
              {problem.message} Saving yours makes it the newest; the other stays among the versions.
            </Text>
            <Button size="compact-sm" variant="default" loading={update.running} onClick={() => void saveAndTell(null)}>
              Save mine
            </Button>
          </Stack>
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          label="Name"
          value={content.name}
          error={problem?.fields.name}
          readOnly={!may('write')}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Subject"
          placeholder="Hello {{name|there}}"
          value={content.subject}
          error={problem?.fields.subject}
          readOnly={!may('write')}
          onChange={(event) => set({ subject: event.currentTarget.value })}
        />
      </SimpleGrid>
      <MailEditor value={content.body} format={format} readOnly={!may('write')} onChange={(body) => set({ body })} />
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          Campaigns send a template as it is when they start, transactional mail as it is at that moment: what is saved
          in a published template goes out from then on. An unsubscribe link is added to campaigns if it has none.
        </Text>
      </Group>
    </Page>
  );
}

function More({ template }: { template: TemplateRow }) {
  const { id, name } = template;
  const [deleting, setDeleting] = useState(false);
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const remove = useChange(DELETE);
  const create = useChange(DUPLICATE);
  const duplicate = async () => {
    const { subject, body, source, format } = template;
    const input = { name: `${name.slice(0, 190)} (copy)`, subject, body: source ?? body, format };
    const data = await create.run({ input });
    if (data === undefined) {
      warn('It could not be copied. Is there a copy of that name already?');
      return;
    }
    tell('This is the copy, a draft.');
    const params = { projectId, templateId: data.createTemplate.id };
    void navigate({ to: '/p/$projectId/templates/$templateId', params });
  };
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
          <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => void duplicate()}>
            Duplicate
          </Menu.Item>
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
        Its versions go with it, and drafts that use it lose their content. Campaigns that were sent keep theirs.
      </Confirm>
    </>
  );
}
