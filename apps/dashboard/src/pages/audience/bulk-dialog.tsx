import { Stack } from '@mantine/core';
import { useState } from 'react';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { BulkAction } from '../../generated/graphql.ts';
import type { Selection } from './selection.ts';
import { type ContactSearch, filterOf } from './contact-search.ts';
import { type ChosenGroup, GroupChoice, groupInput, lacksName } from './group-choice.tsx';

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
  const [group, setGroup] = useState<ChosenGroup>({ id: search.group ?? null, name: '' });
  if (action === undefined) return null;
  const { title, button, about, harmless = false } = DIALOGS[action];
  const isOfGroup = action === 'add_to_group' || action === 'remove_from_group';
  const confirm = async () => {
    const filter = selection === 'all' ? filterOf(search) : { ids: [...selection] };
    const input = { action, filter, ...(isOfGroup ? groupInput(group) : {}) };
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
      disabled={isOfGroup && (group.id === null || lacksName(group))}
      running={start.running}
      problem={start.problem}
      onConfirm={() => void confirm()}
    >
      <Stack gap="sm">
        {about}
        {isOfGroup && (
          <GroupChoice
            label="Group"
            placeholder="Choose a group"
            canCreate={action === 'add_to_group'}
            choice={group}
            onChange={setGroup}
          />
        )}
      </Stack>
    </Confirm>
  );
}
