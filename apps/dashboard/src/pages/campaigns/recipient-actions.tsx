import { Button, Text, TextInput } from '@mantine/core';
import { IconDownload, IconFilterPlus, IconUsersPlus } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { type ApiMutation, useApiMutation } from '../../data/api-mutation.ts';
import { useCampaignLinks } from '../../data/campaign-links.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { RECIPIENT_LABELS } from './campaign-labels.ts';
import { OUTCOME_LABELS } from './recipient-labels.ts';
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
  /** Recipients listed; undefined if they are not counted. */
  total: number | undefined;
}

/** Exports the listed recipients, or saves them as a segment; as a group if segments cannot express the filter. */
export function RecipientActions({ campaign, search, total }: ActionsProps) {
  const { id: projectId } = useProject();
  const canWrite = usePermission('write');
  const [isSaving, setSaving] = useState(false);
  const links = useCampaignLinks(search.link === undefined ? undefined : campaign.id);
  const url = links?.find(({ position }) => position === search.link)?.url;
  const filter = segmentOf(campaign.id, search, url);
  if (search.link !== undefined && links === undefined) return null;
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
      {canWrite && (
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
  const label = outcome === undefined ? state && RECIPIENT_LABELS[state].label : OUTCOME_LABELS[outcome].label;
  const parts = [label?.toLowerCase() ?? 'recipients', q].filter((part) => part !== undefined);
  return `${campaign.slice(0, 120).toWellFormed()}: ${parts.join(', ')}`;
}

type SaveProps = Omit<ActionsProps, 'total'> & { onClose: () => void };

function SaveSegment({ filter, ...props }: SaveProps & { filter: Record<string, unknown> }) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE_SEGMENT);
  const save = async (name: string) => {
    const data = await create.run({ input: { name, filter } });
    if (data === undefined) return;
    notifySuccess(`Created the segment ${name}.`);
    const { id: segmentId } = data.createSegment;
    void navigate({ to: '/p/$projectId/segments/$segmentId', params: { projectId, segmentId } });
  };
  return (
    <NameDialog {...props} kind="segment" mutation={create} onSave={(name) => void save(name)}>
      The segment stays current: contacts who match later join it.
    </NameDialog>
  );
}

function SaveGroup({ total, ...props }: SaveProps & Pick<ActionsProps, 'total'>) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE_GROUP);
  const save = async (name: string) => {
    const data = await create.run({ id: props.campaign.id, name, filter: recipientFilterOf(props.search) });
    if (data === undefined) return;
    const { id: groupId, contactCount } = data.createGroupFromRecipients;
    notifySuccess(`Created the group ${name} with ${countOf(contactCount, 'contact')}.`);
    void navigate({ to: '/p/$projectId/groups/$groupId', params: { projectId, groupId } });
  };
  return (
    <NameDialog {...props} kind="group" mutation={create} onSave={(name) => void save(name)}>
      The group gets {total === undefined ? 'all contacts' : `the ${countOf(total, 'contact')}`} listed now, without
      those deleted since. It does not change later.
    </NameDialog>
  );
}

/** Asks for the name under which the recipients are saved. */
function NameDialog({
  campaign,
  search,
  kind,
  mutation,
  onSave,
  onClose,
  children,
}: SaveProps & {
  kind: 'segment' | 'group';
  mutation: Pick<ApiMutation<unknown, never>, 'running' | 'problem'>;
  onSave: (name: string) => void;
  children: ReactNode;
}) {
  const [name, setName] = useState(nameOf(campaign.name, search));
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`Make a ${kind}`}
      action={`Create ${kind}`}
      harmless
      running={mutation.running}
      problem={mutation.problem}
      disabled={name.trim() === ''}
      onConfirm={() => onSave(name)}
    >
      <Text size="sm" mb="sm">
        {children}
      </Text>
      <TextInput label="Name" value={name} onChange={(event) => setName(event.currentTarget.value)} data-autofocus />
    </Confirm>
  );
}
