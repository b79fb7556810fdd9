import { Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { BulkAction } from '../../generated/graphql.ts';
import type { Selection } from './bulk-bar.tsx';
import { AUDIENCES } from './audiences.ts';
import { type ContactSearch, filterOf } from './contact-search.ts';

const START = graphql(`
  mutation StartBulkOperation($input: StartBulkOperationInput!) {
    startBulkOperation(input: $input) {
      id
    }
  }
`);

interface Dialog {
  title: (contacts: string) => string;
  button: string;
  about: string;
  harmless?: boolean;
}

const DIALOGS: Record<BulkAction, Dialog> = {
  add_to_group: {
    title: (contacts) => `Add ${contacts} to a group?`,
    button: 'Add',
    about: 'Contacts that are already in the group stay in it.',
    harmless: true,
  },
  remove_from_group: {
    title: (contacts) => `Remove ${contacts} from a group?`,
    button: 'Remove',
    about: 'The contacts are kept. A group keeps at least one member.',
  },
  unsubscribe: {
    title: (contacts) => `Unsubscribe ${contacts}?`,
    button: 'Unsubscribe',
    about: 'They get no more email until they are resubscribed. It is recorded as your action, not as theirs.',
  },
  suppress: {
    title: (contacts) => `Suppress ${contacts}?`,
    button: 'Suppress',
    about: 'Their addresses get no more email, even if the contacts are deleted and added again.',
  },
  delete: {
    title: (contacts) => `Delete ${contacts}?`,
    button: 'Delete',
    about: 'The contacts and their data are permanently deleted. Suppressed addresses stay suppressed.',
  },
};

const NEW_GROUP = 'new';

/** Asks for what an action needs, and starts it for all selected contacts. */
export function BulkDialog({
  action,
  search,
  selection,
  count,
  onClose,
  onStarted,
}: {
  action: BulkAction | undefined;
  search: ContactSearch;
  selection: Selection;
  count: number;
  onClose: () => void;
  onStarted: () => void;
}) {
  const start = useApiMutation(START);
  const [groupId, setGroupId] = useState<string | null>(search.group ?? null);
  const [groupName, setGroupName] = useState('');
  if (action === undefined) return null;
  const { title, button, about, harmless = false } = DIALOGS[action];
  const isOfGroup = action === 'add_to_group' || action === 'remove_from_group';
  const group = groupId === NEW_GROUP ? { groupName } : { groupId };
  const confirm = async () => {
    const filter = selection === 'all' ? filterOf(search) : { ids: [...selection] };
    const input = { action, filter, ...(isOfGroup ? group : {}) };
    if ((await start.run({ input })) === undefined) return;
    notifySuccess('Started. The progress is shown above the list.');
    onClose();
    onStarted();
  };
  return (
    <Confirm
      opened
      onClose={() => {
        start.forget();
        onClose();
      }}
      title={title(countOf(count, 'contact'))}
      action={button}
      harmless={harmless}
      {...(action === 'delete' ? { confirmationText: String(count) } : {})}
      disabled={isOfGroup && (groupId === null || (groupId === NEW_GROUP && groupName.trim() === ''))}
      running={start.running}
      problem={start.problem}
      onConfirm={() => void confirm()}
    >
      <Stack gap="sm">
        {about}
        {isOfGroup && (
          <GroupChoice
            canCreate={action === 'add_to_group'}
            groupId={groupId}
            groupName={groupName}
            onGroup={setGroupId}
            onName={setGroupName}
          />
        )}
      </Stack>
    </Confirm>
  );
}

function GroupChoice({
  canCreate,
  groupId,
  groupName,
  onGroup,
  onName,
}: {
  canCreate: boolean;
  groupId: string | null;
  groupName: string;
  onGroup: (id: string | null) => void;
  onName: (name: string) => void;
}) {
  const groups = useApiQuery(AUDIENCES, {}).data?.groups.nodes ?? [];
  return (
    <>
      <Select
        label="Group"
        placeholder="Choose a group"
        searchable
        data={[
          ...(canCreate ? [{ value: NEW_GROUP, label: 'New group' }] : []),
          ...groups.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={groupId}
        onChange={onGroup}
      />
      {groupId === NEW_GROUP && (
        <TextInput
          label="Group name"
          required
          maxLength={200}
          value={groupName}
          onChange={(event) => onName(event.currentTarget.value)}
        />
      )}
    </>
  );
}
