import { Card, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { countOf } from '../../components/numbers.ts';
import { RecordsSelect } from '../../components/record-select.tsx';
import { Section } from '../../components/page.tsx';
import type { Draft, PartProps } from './use-draft.ts';
import { number } from './campaign-labels.ts';

export const PREFLIGHT = graphql(`
  query CampaignPreflight($id: ID!) {
    campaignPreflight(id: $id) {
      isReady
      tracksOpens
      tracksClicks
      messageBytes
      estimatedSeconds
      problems {
        field
        message
      }
      warnings {
        field
        message
      }
      audience {
        contacts
        recipients
        excluded {
          reason
          contacts
        }
      }
      variables {
        name
        fallback
        missing
        examples
      }
    }
  }
`);

const SELECTS = [
  { part: 'groupIds', of: 'groups', label: 'Groups', placeholder: 'Choose groups' },
  { part: 'segmentIds', of: 'segments', label: 'Segments', placeholder: 'Choose segments' },
  { part: 'excludedGroupIds', of: 'groups', label: 'Exclude members of', placeholder: 'No one' },
  { part: 'excludedSegmentIds', of: 'segments', label: 'Exclude contacts in', placeholder: 'No one' },
] as const;

/** The groups and segments of an audience. */
type AudienceIds = Pick<Draft, (typeof SELECTS)[number]['part']>;

/** Choices of groups and segments, included and excluded. */
export function AudienceSelects({
  draft,
  set,
  readOnly = false,
}: {
  draft: AudienceIds;
  set: (changes: Partial<AudienceIds>) => void;
  readOnly?: boolean;
}) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {SELECTS.map(({ part, of, label, placeholder }) => (
        <RecordsSelect
          key={part}
          label={label}
          placeholder={placeholder}
          clearable
          of={of}
          value={draft[part]}
          readOnly={readOnly}
          onChange={(ids) => set({ [part]: ids })}
        />
      ))}
    </SimpleGrid>
  );
}

/** The recipients section: groups, segments and the current recipient count. */
export function Audience({
  draft,
  set,
  readOnly,
  campaignId,
  isShared,
}: PartProps & { campaignId: string; /** By all variants of an A/B test. */ isShared: boolean }) {
  return (
    <Section
      title="Recipients"
      about={
        isShared
          ? 'All variants of the A/B test have this audience: changes apply to each of them.'
          : 'Each contact in any of these gets one email, except those you exclude. Suppressed addresses are skipped.'
      }
    >
      <Card>
        <Stack>
          <AudienceSelects draft={draft} set={set} readOnly={readOnly} />
          <Count campaignId={campaignId} isShared={isShared} />
        </Stack>
      </Card>
    </Section>
  );
}

/** Reasons that are not read as words. */
const REASON_LABELS: Record<string, string> = {
  excluded: 'in an excluded group or segment',
  left_group: 'who left the group',
  manual: 'suppressed manually',
};

function Count({ campaignId, isShared }: { campaignId: string; isShared: boolean }) {
  const audience = useApiQuery(PREFLIGHT, { id: campaignId }).data?.campaignPreflight.audience;
  if (audience === undefined) return null;
  const { contacts, recipients, excluded } = audience;
  return (
    <Group gap="xs" aria-live="polite">
      <Text size="sm" fw={600}>
        {contacts === 0
          ? 'No recipients yet.'
          : `${countOf(recipients, 'person', 'people')} ${isShared ? 'in the audience now' : 'would receive it now'}.`}
      </Text>
      {excluded.length > 0 && (
        <Text size="sm" c="dimmed">
          Excluded:{' '}
          {excluded
            .map(({ reason, contacts: left }) => `${number(left)} ${REASON_LABELS[reason] ?? reason}`)
            .join(', ')}
          , of {number(contacts)}.
        </Text>
      )}
    </Group>
  );
}
