import '@mantine/core/styles/Accordion.css';
import { Accordion, Anchor, Card, Code, Group, Stack, Text } from '@mantine/core';
import { CodeBlock } from '../../components/copy.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { formatDuration } from '../../components/numbers.ts';
import { formatExactTime, When } from '../../components/when.tsx';
import type { Delivery } from './delivery-row.ts';

type Attempt = Delivery['attempts'][number];

/** Attempts with request and response, latest first and expanded. */
export function Attempts({ attempts }: { attempts: Attempt[] }) {
  const latest = attempts.at(-1);
  if (latest === undefined) {
    return (
      <Card>
        <Text size="sm" c="dimmed">
          Waiting for the first attempt.
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
              <StatusBadge tone={isAcknowledged(attempt) ? 'good' : 'bad'}>
                {attempt.status === null ? 'No response' : `Status ${attempt.status}`}
              </StatusBadge>
              <Text size="sm" c="dimmed">
                <When at={attempt.startedAt} /> · {formatDuration(attempt.durationMs)}
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

function Details({ of: { startedAt, error, response, headers, workflowId, workflowUrl } }: { of: Attempt }) {
  const lines = headerLines(headers);
  return (
    <Stack gap="sm">
      <Text size="sm">{formatExactTime(startedAt)}</Text>
      {workflowId !== null && (
        <Text size="sm">
          Workflow{' '}
          {workflowUrl === null ? (
            <Code>{workflowId}</Code>
          ) : (
            <Anchor href={workflowUrl} target="_blank" rel="noreferrer">
              {workflowId}
            </Anchor>
          )}
        </Text>
      )}
      {error !== null && (
        <Text size="sm" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
      <Stack gap={4}>
        <Text size="sm" fw={550}>
          Response
        </Text>
        {response === null || response === '' ? (
          <Text size="sm" c="dimmed">
            {error === null ? 'Empty body.' : 'None.'}
          </Text>
        ) : (
          <CodeBlock text={response} label="Response body" maxHeight={220} />
        )}
      </Stack>
      <Stack gap={4}>
        <Text size="sm" fw={550}>
          Request headers
        </Text>
        {lines === '' ? (
          <Text size="sm" c="dimmed">
            No request was sent.
          </Text>
        ) : (
          <CodeBlock text={lines} label="Request headers" maxHeight={260} />
        )}
      </Stack>
      <Text size="xs" c="dimmed">
        Responses are stored up to 4 KB. <Code>X-Webhook-Id</Code> is unique for each attempt.
      </Text>
    </Stack>
  );
}

function headerLines(headers: unknown): string {
  return Object.entries(headers as Record<string, string>)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
