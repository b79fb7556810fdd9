import { Accordion, Card, Code, Group, Stack, Text } from '@mantine/core';
import { CodeBlock } from '../../components/copy.tsx';
import { State } from '../../components/badge.tsx';
import { milliseconds } from '../../components/numbers.ts';
import { exactly, When } from '../../components/when.tsx';
import type { Delivery } from './delivery.tsx';

type Attempt = Delivery['attempts'][number];

/** Each attempt with what was sent and what came back, the latest first and open. */
export function Attempts({ attempts }: { attempts: Attempt[] }) {
  const latest = attempts.at(-1);
  if (latest === undefined) {
    return (
      <Card>
        <Text size="sm" c="dimmed">
          It waits for its first attempt.
        </Text>
      </Card>
    );
  }
  return (
    <Accordion variant="separated" defaultValue={String(latest.number)} order={3}>
      {attempts.toReversed().map((attempt) => (
        <Accordion.Item key={attempt.number} value={String(attempt.number)}>
          <Accordion.Control>
            <Group gap="sm">
              <Text size="sm" fw={600}>
                Attempt {attempt.number}
              </Text>
              <State tone={isAcknowledged(attempt) ? 'good' : 'bad'}>
                {attempt.status === null ? 'No answer' : `Status ${attempt.status}`}
              </State>
              <Text size="sm" c="dimmed">
                <When at={attempt.startedAt} /> · {milliseconds(attempt.durationMs)}
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Details of={attempt} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

const isAcknowledged = ({ status, error }: Attempt) =>
  error === null && status !== null && status >= 200 && status < 300;

function Details({ of: { startedAt, error, response, headers } }: { of: Attempt }) {
  return (
    <Stack gap="sm">
      <Text size="sm">{exactly(startedAt)}</Text>
      {error !== null && (
        <Text size="sm" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
      <Stack gap={4}>
        <Text size="sm" fw={550}>
          Answer
        </Text>
        {response === null || response === '' ? (
          <Text size="sm" c="dimmed">
            {error === null ? 'Without a body.' : 'None.'}
          </Text>
        ) : (
          <CodeBlock text={response} label="Body of the answer" maxHeight={220} />
        )}
      </Stack>
      <Stack gap={4}>
        <Text size="sm" fw={550}>
          Headers that were sent
        </Text>
        <CodeBlock text={headerLines(headers)} label="Headers that were sent" maxHeight={260} />
      </Stack>
      <Text size="xs" c="dimmed">
        Answers are kept up to 4 KB. <Code>X-Webhook-Id</Code> is another one for each attempt.
      </Text>
    </Stack>
  );
}

function headerLines(headers: unknown): string {
  return Object.entries(headers as Record<string, string>)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
