import { Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import type { RecipientState } from '../../generated/graphql.ts';
import type { CampaignRow } from './campaign-row.ts';
import { percent, RECIPIENT_LABELS } from './campaign-labels.ts';
import { PeopleLink } from './people-link.tsx';

const STATES = Object.keys(RECIPIENT_LABELS) as RecipientState[];

/** A stacked bar of recipient states, each number linking to its recipients. */
export function StateBar({ campaign }: { campaign: CampaignRow }) {
  const { recipientCount, progress } = campaign;
  const present = STATES.filter((state) => progress[state] > 0);
  return (
    <Stack gap="md">
      <Progress.Root size={18} radius="sm">
        {present.map((state) => (
          <Progress.Section
            key={state}
            value={(progress[state] / recipientCount) * 100}
            color={RECIPIENT_LABELS[state].color}
            aria-label={`${RECIPIENT_LABELS[state].label}: ${progress[state]} of ${recipientCount}`}
          />
        ))}
      </Progress.Root>
      <SimpleGrid cols={{ base: 2, xs: 3, md: 4 }} spacing="sm">
        {present.map((state) => (
          <Group key={state} gap={8} wrap="nowrap" align="flex-start">
            <span aria-hidden className="swatch" style={{ background: colorOf(RECIPIENT_LABELS[state].color) }} />
            <div>
              <Text size="sm" fw={550} title={RECIPIENT_LABELS[state].meaning}>
                {RECIPIENT_LABELS[state].label}
              </Text>
              <Text size="sm" className="tabular">
                <PeopleLink
                  campaign={campaign}
                  search={{ state }}
                  label={RECIPIENT_LABELS[state].label}
                  count={progress[state]}
                />{' '}
                <Text span size="sm" c="dimmed">
                  {percent(progress[state], recipientCount)}
                </Text>
              </Text>
            </div>
          </Group>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

const colorOf = (name: string) => `var(--mantine-color-${name.replace('.', '-')})`;
