import '@mantine/core/styles/Timeline.css';
import { Card, Text, Timeline } from '@mantine/core';
import { Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import type { Domain } from './domain-row.ts';

const COLORS: Record<string, string> = { verified: 'green', failing: 'yellow', failed: 'red', blocked: 'red' };

/** A domain's activity, newest first. */
export function Lifecycle({ events }: { events: Domain['lifecycle'] }) {
  return (
    <Section title="Activity">
      <Card>
        <Timeline bulletSize={12} lineWidth={2} active={events.length}>
          {events.map(({ at, type, part, actor, actorName, detail }) => (
            <Timeline.Item key={`${at} ${part} ${type}`} color={COLORS[type] ?? 'gray'}>
              <Text size="sm" className="breakable">
                {detail}
              </Text>
              <Text size="xs" c="dimmed">
                <When at={at} />
                {BY[actor] ?? `, by ${actorName ?? 'a former user'}`}
              </Text>
            </Timeline.Item>
          ))}
        </Timeline>
      </Card>
    </Section>
  );
}

const BY: Record<string, string> = { system: '', operator: ', by an operator' };
