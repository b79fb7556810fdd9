import { Button, Text, TextInput } from '@mantine/core';
import { IconDownload, IconFilterPlus, IconUsersPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { countOf, RECIPIENT_WORDS } from './campaign-labels.ts';
import { OUTCOME_WORDS } from './recipient-labels.ts';
import { recipientFilterOf, recipientsFileOf, type RecipientSearch, segmentOf } from './recipient-search.ts';

const CREATE_SEGMENT = graphql(`
  mutation CreateSegmentOfRecipients($input: CreateSegmentInput!) {
    createSegment(input: $input) {
      id
    }
  }
`);

const CREATE_GROUP = graphql(`
  mutation CreateGroupFromRecipients($id: ID!, $name: String!, $filter: CampaignRecipientFilter!) {
    createGroupFromRecipients(id: $id, name: $name, filter: $filter) {
      id
      contactCount
    }
  }
`);

interface ActionsProps {
  campaign: { id: string; name: string };
  search: RecipientSearch;
  /** Recipients listed; undefined until they are counted. */
  total: number | undefined;
}

/** Exports the listed recipients, or saves them as a segment; as a group if segments cannot express the filter. */
export function RecipientActions({ campaign, search, total }: ActionsProps) {
  const { id: projectId } = useProject();
  const may = useMay();
  const [isSaving, setSaving] = useState(false);
  const filter = segmentOf(campaign.id, search);
  if (total === undefined || total === 0) return null;
  const close = () => setSaving(false);
  return (
    <>
      <Button
        component="a"
        href={recipientsFileOf(projectId, campaign.id, search)}
        download
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
      >
        Export
      </Button>
      {may('write') && (
        <Button
          leftSection={filter ? <IconFilterPlus size={16} aria-hidden /> : <IconUsersPlus size={16} aria-hidden />}
          onClick={() => setSaving(true)}
        >
          {filter ? 'Make a segment' : 'Make a group'}
        </Button>
      )}
      {isSaving &&
        (filter ? (
          <SaveSegment campaign={campaign} search={search} filter={filter} onClose={close} />
        ) : (
          <SaveGroup campaign={campaign} search={search} total={total} onClose={close} />
        ))}
    </>
  );
}

/** A name to start from, such as "News: opened". */
function nameOf(campaign: string, { state, outcome, q }: RecipientSearch): string {
  const word = outcome === undefined ? state && RECIPIENT_WORDS[state].word : OUTCOME_WORDS[outcome].word;
  const parts = [word?.toLowerCase() ?? 'recipients', q].filter((part) => part !== undefined);
  return `${campaign.slice(0, 120)}: ${parts.join(', ')}`;
}

function SaveSegment({
  campaign,
  search,
  filter,
  onClose,
}: Omit<ActionsProps, 'total'> & { filter: Record<string, unknown>; onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE_SEGMENT);
  const [name, setName] = useState(nameOf(campaign.name, search));
  const confirm = async () => {
    const data = await create.run({ input: { name, filter } });
    if (data === undefined) return;
    notifySuccess(`Created the segment ${name}.`);
    void navigate({
      to: '/p/$projectId/segments/$segmentId',
      params: { projectId, segmentId: data.createSegment.id },
    });
  };
  return (
    <Confirm
      opened
      onClose={onClose}
      title="Make a segment"
      action="Create segment"
      harmless
      running={create.running}
      problem={create.problem}
      disabled={name.trim() === ''}
      onConfirm={() => void confirm()}
    >
      <Text size="sm" mb="sm">
        The segment stays current: contacts who match later join it.
      </Text>
      <TextInput label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} data-autofocus />
    </Confirm>
  );
}

function SaveGroup({
  campaign,
  search,
  total,
  onClose,
}: Omit<ActionsProps, 'total'> & { total: number; onClose: () => void }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE_GROUP);
  const [name, setName] = useState(nameOf(campaign.name, search));
  const confirm = async () => {
    const data = await create.run({ id: campaign.id, name, filter: recipientFilterOf(search) });
    if (data === undefined) return;
    const { id: groupId, contactCount } = data.createGroupFromRecipients;
    notifySuccess(`Created the group ${name} with ${countOf(contactCount, 'contact')}.`);
    void navigate({ to: '/p/$projectId/groups/$groupId', params: { projectId, groupId } });
  };
  return (
    <Confirm
      opened
      onClose={onClose}
      title="Make a group"
      action="Create group"
      harmless
      running={create.running}
      problem={create.problem}
      disabled={name.trim() === ''}
      onConfirm={() => void confirm()}
    >
      <Text size="sm" mb="sm">
        The group gets the {countOf(total, 'contact')} listed now, without those deleted since. It does not change
        later.
      </Text>
      <TextInput label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} data-autofocus />
    </Confirm>
  );
}
