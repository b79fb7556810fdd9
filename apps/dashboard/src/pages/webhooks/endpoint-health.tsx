import './endpoint-health.css';
import { Alert, Card, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { ChartFigure } from '../../components/chart-figure.tsx';
import { formatDayAndTime, When } from '../../components/when.tsx';
import { AnswerStrip } from './answer-strip.tsx';
import { acknowledgedShare } from './endpoint-state.tsx';
import type { Endpoint } from './endpoint-row.ts';

const STRIP_HEIGHT = 72;

/** How well an endpoint answers, in words and by the hour. Its height is the same in every state. */
export function EndpointHealth({ endpoint }: { endpoint: Endpoint }) {
  const { hours } = endpoint.health;
  return (
    <Card component="section" aria-label="Health">
      <Stack>
        <Summary endpoint={endpoint} />
        <ChartFigure
          title="Attempts by hour, last 24 hours"
          columns={['Hour', 'Acknowledged', 'Failed']}
          rows={hours
            .filter(({ acknowledged, failed }) => acknowledged + failed > 0)
            .map(({ at, acknowledged, failed }) => [
              formatDayAndTime(at),
              acknowledged.toLocaleString(),
              failed.toLocaleString(),
            ])}
        >
          <AnswerStrip hours={hours} height={STRIP_HEIGHT} />
        </ChartFigure>
      </Stack>
    </Card>
  );
}

const COLORS = { idle: 'gray', healthy: 'green', degraded: 'yellow', failing: 'red' };

const ACKNOWLEDGED = 'The last attempt was acknowledged.';
const LAST_ATTEMPT_LABELS = {
  idle: 'Send a test event to check that it works.',
  healthy: ACKNOWLEDGED,
  degraded: ACKNOWLEDGED,
  failing: ACKNOWLEDGED,
};

function Summary({ endpoint: { enabled, disabledAt, disabledReason, failingSince, health } }: { endpoint: Endpoint }) {
  const isWell = enabled && failingSince === null && (health.state === 'idle' || health.state === 'healthy');
  return (
    <Alert
      color={enabled ? COLORS[health.state] : 'red'}
      icon={isWell ? <IconCircleCheck aria-hidden /> : <IconAlertTriangle aria-hidden />}
      role="status"
      className="endpoint-summary"
    >
      <Text size="sm" fw={550}>
        {acknowledgedShare(health)} in the last 24 hours
      </Text>
      <Text size="sm">
        {!enabled ? (
          <>
            Disabled {disabledAt !== null && <When at={disabledAt} />}: {disabledReason ?? 'no reason was given.'}{' '}
            Queued events are kept.
          </>
        ) : failingSince === null ? (
          LAST_ATTEMPT_LABELS[health.state]
        ) : (
          <>
            Started failing <When at={failingSince} />. After three days of failures the endpoint is disabled.
          </>
        )}
      </Text>
    </Alert>
  );
}
