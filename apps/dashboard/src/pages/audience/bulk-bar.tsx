import { Button, Card, Group, Text } from '@mantine/core';
import { IconBan, IconDownload, IconMailOff, IconTrash, IconUserMinus, IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import type { BulkAction } from '../../generated/graphql.ts';
import { number } from '../campaigns/campaign-labels.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { type ContactSearch, exportUrl, isFiltered } from './contact-search.ts';
import { type Selection, totalText } from './selection.ts';

const ACTIONS: [BulkAction, string, typeof IconBan][] = [
  ['add_to_group', 'Add to group', IconUserPlus],
  ['remove_from_group', 'Remove from group', IconUserMinus],
  ['unsubscribe', 'Unsubscribe', IconMailOff],
  ['suppress', 'Suppress', IconBan],
  ['delete', 'Delete', IconTrash],
];

/** What can be done with the selected contacts. */
export function BulkBar({
  search,
  selection,
  total,
  onSelect,
}: {
  search: ContactSearch;
  selection: Selection;
  /** How many contacts match the filters. */
  total: number | undefined;
  onSelect: (selection: Selection) => void;
}) {
  const { id: projectId } = useProject();
  const canWrite = usePermission('write');
  const [asked, setAsked] = useState<BulkAction>();
  const count = selection === 'all' ? (total ?? 0) : selection.length;
  if (selection !== 'all' && selection.length === 0) return null;
  const canWiden = selection !== 'all' && total !== undefined && total > selection.length;
  return (
    <Card p="sm" role="region" aria-label="Selected contacts">
      <Group gap="xs">
        <Text size="sm" fw={550} role="status">
          {selection === 'all'
            ? `All ${totalText(count)} ${isFiltered(search) ? 'matching ' : ''}contacts are selected`
            : `${number(count)} selected`}
        </Text>
        {canWiden && (
          <Button variant="subtle" size="compact-sm" onClick={() => onSelect('all')}>
            Select all {totalText(total)}
          </Button>
        )}
        <Button variant="subtle" size="compact-sm" color="gray" onClick={() => onSelect([])}>
          Clear selection
        </Button>
      </Group>
      <Group gap="xs" mt="xs">
        {canWrite &&
          ACTIONS.map(([action, label, Icon]) => (
            <Button
              key={action}
              size="compact-md"
              variant={action === 'delete' ? 'light' : 'default'}
              {...(action === 'delete' ? { color: 'red' } : {})}
              leftSection={<Icon size={16} aria-hidden />}
              onClick={() => setAsked(action)}
            >
              {label}
            </Button>
          ))}
        <Button
          component="a"
          href={exportUrl(projectId, search, selection === 'all' ? undefined : selection)}
          download
          size="compact-md"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Export
        </Button>
      </Group>
      <BulkDialog
        action={asked}
        search={search}
        selection={selection}
        count={count}
        onClose={() => setAsked(undefined)}
        onStarted={() => onSelect([])}
      />
    </Card>
  );
}
