import { Card, Group, Stack, Text } from '@mantine/core';
import { StatusBadge, type Tone } from '../../components/badge.tsx';
import { CopyField } from '../../components/copy.tsx';
import { Section } from '../../components/page.tsx';
import type { Domain } from './domain-row.ts';

type Recommendation = Domain['recommendations'][number];

const SEVERITIES: Record<Recommendation['severity'], [tone: Tone, label: string]> = {
  high: ['bad', 'Important'],
  medium: ['warn', 'Recommended'],
  low: ['quiet', 'Minor'],
  info: ['quiet', 'Info'],
};

/** DNS recommendations, most severe first. */
export function Recommendations({ of }: { of: Recommendation[] }) {
  if (of.length === 0) return null;
  return (
    <Section title="Recommendations">
      <Stack>
        {of.map((recommendation) => (
          <Card key={recommendation.id} component="article" aria-label={recommendation.title}>
            <Advice of={recommendation} />
          </Card>
        ))}
      </Stack>
    </Section>
  );
}

function Advice({ of: { severity, title, detail, record } }: { of: Recommendation }) {
  const [tone, label] = SEVERITIES[severity];
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Text size="sm" fw={600}>
          {title}
        </Text>
        <StatusBadge tone={tone}>{label}</StatusBadge>
      </Group>
      <Text size="sm">{detail}</Text>
      {record !== null && <CopyField label={`${record.type} record at ${record.name}`} value={record.value} />}
    </Stack>
  );
}
