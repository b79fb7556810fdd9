import { Alert, Button, Group, Text } from '@mantine/core';
import { IconFileImport, IconInfoCircle } from '@tabler/icons-react';
import { usePermission, useProject } from '../../app/session.tsx';
import { FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { formatDayAndTime } from '../../components/when.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { ImportQuery } from '../../generated/graphql.ts';

const EXECUTE = graphql(`
  mutation ExecuteDryRun($id: ID!) {
    executeDryRun(id: $id) {
      id
    }
  }
`);

/** Says that a dry run wrote nothing, and imports its file on request. */
export function DryRun({ row }: { row: ImportQuery['import'] }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const canWrite = usePermission('write');
  const execute = useApiMutation(EXECUTE);
  const { id, dryRun, status, fileExpiresAt, executedAsId } = row;
  if (!dryRun || status !== 'completed') return null;
  const start = async () => {
    const data = await execute.run({ id });
    if (data === undefined) return;
    const importId = data.executeDryRun.id;
    void navigate({ to: '/p/$projectId/imports/$importId', params: { projectId, importId } });
  };
  return (
    <>
      <FormProblem problem={execute.problem} />
      <Alert icon={<IconInfoCircle aria-hidden />} title="Nothing was written">
        <Group justify="space-between" gap="sm">
          <Text size="sm">
            {fileExpiresAt !== null ? (
              `This was a dry run. Its file is kept until ${formatDayAndTime(fileExpiresAt)}, so you can import it now.`
            ) : executedAsId === null ? (
              'This was a dry run. Its file is no longer kept: to import it, upload it again.'
            ) : (
              <>
                This was a dry run. Its file was imported afterwards:{' '}
                <TextLink to="/p/$projectId/imports/$importId" params={{ projectId, importId: executedAsId }} size="sm">
                  see that import
                </TextLink>
                .
              </>
            )}
          </Text>
          {canWrite && fileExpiresAt !== null && (
            <Button
              leftSection={<IconFileImport size={16} aria-hidden />}
              loading={execute.running}
              onClick={() => void start()}
            >
              Import now
            </Button>
          )}
        </Group>
      </Alert>
    </>
  );
}
