import { Button, Card, Grid, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconRestore } from '@tabler/icons-react';
import { useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { TemplateVersionsQuery } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { FORMAT_LABELS } from '../../components/format-labels.ts';
import { RowLink, TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { SampledPreview } from '../../components/sampled-preview.tsx';
import { QueryResult } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useNavigate } from '../../components/use-navigate.ts';

const HtmlEditor = lazy(() => import('../../components/html-editor.tsx'));

const VERSIONS = graphql(`
  query TemplateVersions($id: ID!, $after: String) {
    template(id: $id) {
      id
      name
      version
      publishedVersion
    }
    templateVersions(id: $id, first: 100, after: $after) {
      nodes {
        id
        number
        status
        restoredFrom
        authorId
        authorName
        createdAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const VERSION = graphql(`
  query TemplateVersion($id: ID!, $versionId: ID!) {
    templateVersion(id: $id, versionId: $versionId) {
      id
      subject
      body
      format
      source
    }
  }
`);

const RESTORE = graphql(`
  mutation RestoreTemplateVersion($id: ID!, $versionId: ID!) {
    restoreTemplateVersion(id: $id, versionId: $versionId) {
      id
      version
    }
  }
`);

const FROM = '/auth/p/$projectId/templates/$templateId/versions';

type Version = TemplateVersionsQuery['templateVersions']['nodes'][number];

/** A template's version history, with preview and restore. */
export function Versions() {
  const { templateId } = useParams({ from: FROM });
  const search = useSearch({ from: FROM });
  const { id: projectId } = useProject();
  const versions = useApiQuery(VERSIONS, { id: templateId, after: cursorOf(search) ?? null });
  const name = versions.data?.template.name;
  return (
    <Page
      title={name === undefined ? 'Versions' : `Versions of ${name}`}
      width={1320}
      about="A version is created each time the template is saved or published. Restoring one creates a new version; nothing is lost."
      back={
        <TextLink to="/p/$projectId/templates/$templateId" params={{ projectId, templateId }} size="sm">
          <BackLabel>{name ?? 'Template'}</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={versions}>
        {({ template, templateVersions: { nodes, pageInfo } }) => {
          const shown = nodes.find(({ number }) => number === search.version) ?? nodes[0];
          return (
            <Grid gap="lg">
              <Grid.Col span={{ base: 12, lg: 5 }}>
                <Stack>
                  <DataTable
                    label="Versions"
                    rows={nodes}
                    keyOf={({ id }) => id}
                    columns={[
                      {
                        title: 'Version',
                        cell: (version) => (
                          <Group gap="xs">
                            <RowLink
                              to="."
                              search={((before: object) => ({ ...before, version: version.number })) as never}
                              resetScroll={false}
                              aria-current={version.number === shown?.number ? 'true' : undefined}
                              fw={version.number === shown?.number ? 700 : 450}
                            >
                              {version.number === template.version ? `${version.number}, newest` : version.number}
                            </RowLink>
                            <VersionState version={version} template={template} />
                          </Group>
                        ),
                      },
                      { title: 'Saved', cell: (version) => <Origin version={version} /> },
                    ]}
                  />
                  <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
                </Stack>
              </Grid.Col>
              <Grid.Col span={{ base: 12, lg: 7 }}>
                {shown !== undefined && (
                  <OneVersion
                    key={shown.id}
                    templateId={templateId}
                    version={shown}
                    isNow={shown.number === template.version}
                  />
                )}
              </Grid.Col>
            </Grid>
          );
        }}
      </QueryResult>
    </Page>
  );
}

/** Whether a version is the published one, was published once, or never. */
function VersionState({
  version: { number, status },
  template: { publishedVersion },
}: {
  version: Version;
  template: TemplateVersionsQuery['template'];
}) {
  if (number === publishedVersion) return <StatusBadge tone="good">Published now</StatusBadge>;
  return <StatusBadge tone="quiet">{status === 'published' ? 'Published before' : 'Draft'}</StatusBadge>;
}

/** When a version was saved, by whom, and what it restored. */
function Origin({ version: { authorId, authorName, createdAt, restoredFrom } }: { version: Version }) {
  const by = authorName ?? (authorId?.startsWith('key_') === true ? 'An API key' : 'Somebody');
  return (
    <>
      <When at={createdAt} />
      <Text size="xs" c="dimmed">
        {authorId === null ? 'Before version history' : by}
        {restoredFrom !== null && `, version ${restoredFrom} again`}
      </Text>
    </>
  );
}

function OneVersion({ templateId, version, isNow }: { templateId: string; version: Version; isNow: boolean }) {
  const { id: projectId } = useProject();
  const [view, setView] = useState<'preview' | 'source'>('preview');
  const [asking, setAsking] = useState(false);
  const content = useApiQuery(VERSION, { id: templateId, versionId: version.id });
  const restore = useApiMutation(RESTORE);
  const navigate = useNavigate();
  const canWrite = usePermission('write');
  const confirm = async () => {
    const data = await restore.run({ id: templateId, versionId: version.id });
    if (data === undefined) return;
    notifySuccess(`Version ${version.number} was restored as version ${data.restoreTemplateVersion.version}.`);
    setAsking(false);
    void navigate({ to: '/p/$projectId/templates/$templateId', params: { projectId, templateId } });
  };
  return (
    <Section
      title={`Version ${version.number}`}
      actions={
        canWrite &&
        !isNow && (
          <Button variant="default" leftSection={<IconRestore size={16} aria-hidden />} onClick={() => setAsking(true)}>
            Restore
          </Button>
        )
      }
    >
      <Card>
        <QueryResult of={content}>
          {({ templateVersion: { subject, body, format, source } }) => (
            <Stack>
              <Group justify="space-between" gap="xs">
                <Text size="sm" className="breakable">
                  <Text span c="dimmed" size="sm">
                    Subject:{' '}
                  </Text>
                  {subject ?? '–'}
                </Text>
                <SegmentedControl
                  size="xs"
                  aria-label="View"
                  value={view}
                  onChange={(next) => setView(next as typeof view)}
                  data={[
                    { value: 'preview', label: 'Mail' },
                    { value: 'source', label: FORMAT_LABELS[format] },
                  ]}
                />
              </Group>
              {view === 'preview' ? (
                <SampledPreview html={body} title={`Version ${version.number}`} />
              ) : (
                <div style={{ height: 560 }}>
                  <Suspense>
                    <HtmlEditor
                      value={source ?? body}
                      format={format}
                      label={FORMAT_LABELS[format]}
                      placeholders={[]}
                      problems={[]}
                      readOnly
                      onChange={() => {}}
                    />
                  </Suspense>
                </div>
              )}
            </Stack>
          )}
        </QueryResult>
      </Card>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Restore version ${version.number}?`}
        action="Restore"
        harmless
        running={restore.running}
        problem={restore.problem}
        onConfirm={() => void confirm()}
      >
        The content of version {version.number} becomes the newest version. A published template sends it once you
        publish it. The current content stays in the version history.
      </Confirm>
    </Section>
  );
}
