import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconFileText, IconPlus } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ContentFormat } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { DialogForm, required } from '../../components/form.tsx';
import { FORMAT_LABELS } from '../../components/format-labels.ts';
import { RowLink } from '../../components/link.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { FormatChoice } from './format-choice.tsx';
import { STARTERS } from './starter.ts';
import { Thumbnail } from './thumbnail.tsx';

const TEMPLATES = graphql(`
  query Templates($after: String) {
    templates(first: 50, after: $after) {
      nodes {
        id
        name
        subject
        format
        status
        version
        publishedVersion
        updatedAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const CREATE = graphql(`
  mutation CreateTemplate($input: CreateTemplateInput!) {
    createTemplate(input: $input) {
      id
    }
  }
`);

/** The template list. */
export function Templates() {
  const search = useSearch({ from: '/auth/p/$projectId/templates' });
  const templates = useApiQuery(TEMPLATES, { after: cursorOf(search) ?? null });
  const { id: projectId } = useProject();
  const [creating, setCreating] = useCreateDialog('write');
  const canWrite = usePermission('write');
  const create = canWrite && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      New template
    </Button>
  );
  return (
    <Page title="Templates" about="Reusable content for campaigns and transactional email." actions={create}>
      <QueryResult of={templates} skeleton={<RowsSkeleton />}>
        {({ templates: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No templates yet" icon={IconFileText} action={create}>
              Write a template once in HTML or MJML, with placeholders such as {'{{name|there}}'}, which are filled in
              for each recipient.
            </Empty>
          ) : (
            <Stack>
              <DataTable
                label="Templates"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Name',
                    cell: (template) => (
                      <Group gap="md" wrap="nowrap">
                        <Thumbnail id={template.id} />
                        <Stack gap={2}>
                          <RowLink
                            to="/p/$projectId/templates/$templateId"
                            params={{ projectId, templateId: template.id }}
                          >
                            {template.name}
                          </RowLink>
                          {template.subject !== null && (
                            <Text size="sm" c="dimmed">
                              {template.subject}
                            </Text>
                          )}
                        </Stack>
                      </Group>
                    ),
                  },
                  { title: 'Format', from: 'sm', width: 90, cell: ({ format }) => FORMAT_LABELS[format] },
                  {
                    title: 'Status',
                    from: 'sm',
                    width: 160,
                    cell: (template) => <TemplateState template={template} />,
                  },
                  { title: 'Changed', from: 'sm', width: 150, cell: ({ updatedAt }) => <When at={updatedAt} /> },
                ]}
              />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </Stack>
          )
        }
      </QueryResult>
      <Dialog opened={creating} onClose={() => setCreating(false)} title="New template">
        <NewTemplate onClose={() => setCreating(false)} />
      </Dialog>
    </Page>
  );
}

interface TemplateStateProps {
  template: { status: 'draft' | 'published'; version: number; publishedVersion: number | null };
}

/** Whether a template is published, and whether it has unpublished changes. */
export function TemplateState({ template: { status, version, publishedVersion } }: TemplateStateProps) {
  if (status === 'draft') return <StatusBadge tone="quiet">Draft</StatusBadge>;
  return (
    <Group gap={6}>
      <StatusBadge tone="good">Published</StatusBadge>
      {version !== publishedVersion && <StatusBadge tone="busy">Unpublished draft</StatusBadge>}
    </Group>
  );
}

function NewTemplate({ onClose }: { onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  return (
    <DialogForm
      values={{ name: '', format: 'html' as ContentFormat }}
      validate={{ name: required('Enter a name') }}
      mutation={create}
      save={async ({ name, format }) => {
        const data = await create.run({ input: { name, format, body: STARTERS[format] } });
        if (data === undefined) return;
        void navigate({
          to: '/p/$projectId/templates/$templateId',
          params: { projectId, templateId: data.createTemplate.id },
        });
      }}
      submit="Create"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput
            label="Name"
            placeholder="Monthly newsletter"
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('name')}
          />
          <FormatChoice value={form.values.format} onChange={(format) => form.setFieldValue('format', format)} />
        </>
      )}
    </DialogForm>
  );
}
