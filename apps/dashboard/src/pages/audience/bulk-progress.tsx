import { Alert, Button, Card, Group, Progress, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { usePermission } from '../../app/session.tsx';
import { countOf, formatShare } from '../../components/numbers.ts';
import { useApiAction } from '../../components/use-api-action.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { useLive } from '../../data/live.ts';
import { graphql } from '../../generated/gql.ts';
import type { BulkAction, BulkOperationsQuery } from '../../generated/graphql.ts';
import { number } from '../campaigns/campaign-labels.ts';

const OPERATIONS = graphql(`
  query BulkOperations {
    bulkOperations(first: 5) {
      nodes {
        id
        action
        status
        total
        processed
        changed
        error
        groupName
        cancelRequestedAt
        finishedAt
      }
    }
  }
`);

const PROGRESS = graphql(`
  subscription BulkOperationProgress($id: ID!) {
    bulkOperationProgress(id: $id) {
      id
    }
  }
`);

const CANCEL = graphql(`
  mutation CancelBulkOperation($id: ID!) {
    cancelBulkOperation(id: $id) {
      id
    }
  }
`);

type Operation = BulkOperationsQuery['bulkOperations']['nodes'][number];

const DOING: Record<BulkAction, string> = {
  add_to_group: 'Adding to the group',
  remove_from_group: 'Removing from the group',
  suppress: 'Suppressing',
  unsubscribe: 'Unsubscribing',
  delete: 'Deleting',
};

const DONE: Record<BulkAction, string> = {
  add_to_group: 'added to the group',
  remove_from_group: 'removed from the group',
  suppress: 'suppressed',
  unsubscribe: 'unsubscribed',
  delete: 'deleted',
};

/** Results are shown for this long, in milliseconds. */
const SHOWN_MS = 10 * 60_000;

/** Running bulk operations of the project, and the latest results. */
export function BulkProgress() {
  const operations = useApiQuery(OPERATIONS, {}).data?.bulkOperations.nodes ?? [];
  const [hidden, setHidden] = useState<string[]>([]);
  const isShown = ({ id, status, finishedAt }: Operation) =>
    status === 'running' ||
    (!hidden.includes(id) && finishedAt !== null && Date.now() - Date.parse(finishedAt) < SHOWN_MS);
  const shown = operations.filter(isShown);
  if (shown.length === 0) return null;
  return (
    <Stack gap="xs">
      {shown.map((operation) =>
        operation.status === 'running' ? (
          <Running key={operation.id} operation={operation} />
        ) : (
          <Ended
            key={operation.id}
            operation={operation}
            onClose={() => setHidden((before) => [...before, operation.id])}
          />
        ),
      )}
    </Stack>
  );
}

function Running({ operation: { id, action, total, processed, cancelRequestedAt } }: { operation: Operation }) {
  const cancel = useApiAction(CANCEL);
  const canWrite = usePermission('write');
  useLive(PROGRESS, { id });
  const share = total === 0 ? 0 : Math.min(1, processed / total);
  return (
    <Card p="sm">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={550} role="status">
            {DOING[action]}: {number(processed)} of {number(total)} contacts.
            {cancelRequestedAt === null ? ' You can leave this page.' : ' Stopping.'}
          </Text>
          {canWrite && cancelRequestedAt === null && (
            <Button
              variant="default"
              size="compact-sm"
              loading={cancel.running}
              onClick={() => void cancel.run({ id })}
            >
              Cancel
            </Button>
          )}
        </Group>
        <Progress value={share * 100} animated aria-label={`${DOING[action]}: ${formatShare(share)}`} />
      </Stack>
    </Card>
  );
}

function Ended({ operation, onClose }: { operation: Operation; onClose: () => void }) {
  const { action, status, changed, processed, error } = operation;
  const isWhole = status === 'completed';
  const untouched = processed - changed;
  return (
    <Alert
      color={isWhole ? 'green' : 'yellow'}
      icon={isWhole ? <IconCircleCheck aria-hidden /> : <IconAlertTriangle aria-hidden />}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={onClose}
    >
      {countOf(changed, 'contact')} {changed === 1 ? 'was' : 'were'} {DONE[action]}.
      {untouched > 0 && ` ${countOf(untouched, 'other')} needed no change.`}
      {status === 'canceled' && ' Then it was canceled.'}
      {error !== null && ` Then it stopped: ${error}`}
    </Alert>
  );
}
