import { Card, Group, MultiSelect, SimpleGrid, Stack, Text } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Section } from '../../components/page.tsx';
import { AUDIENCES } from '../audience/contact-filters.tsx';
import type { PartProps } from './builder.tsx';
import { countOf, number } from './campaign-labels.ts';

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

/** The recipients section: groups, segments and the current recipient count. */
export function Audience({ draft, set, readOnly, campaignId }: PartProps & { campaignId: string }) {
  const { data } = useApiQuery(AUDIENCES, {});
  const options = (rows: { id: string; name: string }[] = []) =>
    rows.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Section
      title="Recipients"
      about="Each contact in any of these gets one email, except those you exclude. Suppressed addresses are skipped."
    >
      <Card>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <MultiSelect
              size="sm"
              label="Groups"
              placeholder={draft.groupIds.length === 0 ? 'Choose groups' : undefined}
              searchable
              clearable
              data={options(data?.groups.nodes)}
              value={draft.groupIds}
              readOnly={readOnly}
              onChange={(groupIds) => set({ groupIds })}
            />
            <MultiSelect
              size="sm"
              label="Segments"
              placeholder={draft.segmentIds.length === 0 ? 'Choose segments' : undefined}
              searchable
              clearable
              data={options(data?.segments.nodes)}
              value={draft.segmentIds}
              readOnly={readOnly}
              onChange={(segmentIds) => set({ segmentIds })}
            />
            <MultiSelect
              size="sm"
              label="Exclude members of"
              placeholder={draft.excludedGroupIds.length === 0 ? 'No one' : undefined}
              searchable
              clearable
              data={options(data?.groups.nodes)}
              value={draft.excludedGroupIds}
              readOnly={readOnly}
              onChange={(excludedGroupIds) => set({ excludedGroupIds })}
            />
            <MultiSelect
              size="sm"
              label="Exclude contacts in"
              placeholder={draft.excludedSegmentIds.length === 0 ? 'No one' : undefined}
              searchable
              clearable
              data={options(data?.segments.nodes)}
              value={draft.excludedSegmentIds}
              readOnly={readOnly}
              onChange={(excludedSegmentIds) => set({ excludedSegmentIds })}
            />
          </SimpleGrid>
          <Count campaignId={campaignId} />
        </Stack>
      </Card>
    </Section>
  );
}

/** Reasons that are not read as words. */
const REASON_WORDS: Record<string, string> = {
  excluded: 'in an excluded group or segment',
  left_group: 'who left the group',
  manual: 'suppressed manually',
};

function Count({ campaignId }: { campaignId: string }) {
  const audience = useApiQuery(PREFLIGHT, { id: campaignId }).data?.campaignPreflight.audience;
  if (audience === undefined) return null;
  const { contacts, recipients, excluded } = audience;
  return (
    <Group gap="xs" aria-live="polite">
      <Text size="sm" fw={600}>
        {contacts === 0 ? 'No recipients yet.' : `${countOf(recipients, 'person', 'people')} would receive it now.`}
      </Text>
      {excluded.length > 0 && (
        <Text size="sm" c="dimmed">
          Excluded:{' '}
          {excluded.map(({ reason, contacts: left }) => `${number(left)} ${REASON_WORDS[reason] ?? reason}`).join(', ')}
          , of {number(contacts)}.
        </Text>
      )}
    </Group>
  );
}
