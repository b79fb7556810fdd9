import { LRUCache } from 'lru-cache';
import {
  config,
  currentTraceparent,
  databaseNow,
  databaseTime,
  inSpan,
  logger,
  withLogContext,
} from '@postroom/platform';
import { type PostResponse, createGuardedClient, type GuardedClient, noResponse } from '@postroom/guarded-client';
import { measureAttempt } from './attempt-metrics.ts';
import { type EventRow, renderBody, requestHeaders, type SigningSecrets } from './payload.ts';
import { POLICY } from './policy.ts';
import { isAcknowledged, retryDelayMs } from './schedule.ts';
import { signingSecret } from './signing-secrets.ts';

/** Everything an attempt needs: delivery, event and endpoint. */
export interface DueDelivery extends EventRow {
  id: string;
  endpoint_id: string;
  state: 'queued' | 'retried' | 'acknowledged' | 'failed';
  attempt_count: number;
  workflow_id: string | null;
  url: string;
  enabled: boolean;
  secret: string;
  previous_secret: string | null;
  failures_in_row: number;
  failing: boolean;
  /** The trace context that the event was recorded in. */
  traceparent: string | null;
}

/** An attempt and its outcome. */
export interface AttemptResult {
  delivery: DueDelivery;
  /** 1 to 6. Counted from our rows, so that a crash never uses up an attempt. */
  number: number;
  headers: Record<string, string>;
  startedAt: Date;
  response: PostResponse;
  acknowledged: boolean;
  /** Milliseconds until the next attempt; `undefined` if there is none. */
  delayMs: number | undefined;
}

let client: GuardedClient | undefined;

/** Posts a delivery once, freshly signed. Writes nothing: see `recordAttempts`. */
export async function post(delivery: DueDelivery): Promise<AttemptResult> {
  const number = delivery.attempt_count + 1;
  const startedAt = databaseTime();
  const secrets = secretsOf(delivery);
  const { headers, response } =
    secrets === undefined
      ? nothingSent('The signing secret could not be read')
      : await withLogContext({ deliveryId: delivery.id }, () =>
          postTraced(delivery, number, secrets).catch((error: unknown) => {
            logger.error({ err: error }, 'could not build the request of a webhook delivery');
            return nothingSent('The request could not be made');
          }),
        );
  measureAttempt(response);
  const acknowledged = isAcknowledged(response);
  const delayMs = acknowledged ? undefined : retryDelayMs(number, response);
  return { delivery, number, headers, startedAt, response, acknowledged, delayMs };
}

/** In the trace of the request that caused the event, which receivers may continue. */
function postTraced(delivery: DueDelivery, number: number, secrets: SigningSecrets) {
  const attributes = { 'postroom.delivery.id': delivery.id, 'postroom.attempt': number };
  const parent = delivery.traceparent ?? currentTraceparent();
  if (parent === null) return postSigned(delivery, number, secrets);
  return inSpan('POST webhook', { kind: 'client', parent, attributes }, async (span) => {
    const result = await postSigned(delivery, number, secrets);
    span?.setAttributes({ 'http.response.status_code': result.response.status ?? 0 });
    return result;
  });
}

async function postSigned(delivery: DueDelivery, number: number, secrets: SigningSecrets) {
  client ??= createGuardedClient({ scope: config.webhookScope, ...POLICY.attempt });
  const body = renderBody(delivery);
  let headers: Record<string, string> = {};
  const traceparent = currentTraceparent();
  const freshHeaders = () =>
    (headers = {
      ...requestHeaders(
        { deliveryId: delivery.id, number, eventType: delivery.event_type, secrets },
        { eventId: delivery.event_id, timestamp: Math.floor(databaseNow() / 1000), body },
      ),
      ...(traceparent === null ? {} : { traceparent }),
    });
  const response = await client.post({ url: delivery.url, headers: freshHeaders, body });
  return { headers, response };
}

/** An attempt that could not be made counts as one, so that it blocks no other delivery and is eventually given up. */
const nothingSent = (reason: string) => ({ headers: {}, response: noResponse(`${reason}: nothing was sent.`) });

/** `undefined` if the current secret can't be read. The previous one may be rotated because it can't be, and is left out then. */
function secretsOf({ endpoint_id: id, secret, previous_secret: previous }: DueDelivery): SigningSecrets | undefined {
  const current = readSecret(id, secret);
  if (current === undefined) return undefined;
  return { current, previous: previous === null ? undefined : readSecret(id, previous) };
}

function readSecret(id: string, envelope: string): string | undefined {
  try {
    return secrets.memo(`${id} ${envelope}`);
  } catch (error) {
    logger.error({ err: error, endpointId: id }, 'could not decrypt a signing secret of a webhook endpoint');
    return undefined;
  }
}

/** Decrypted signing secrets by endpoint id and envelope, separated by a space. */
const secrets = new LRUCache<string, string>({
  max: 1_000,
  memoMethod: (key) => {
    const [id = '', envelope = ''] = key.split(' ');
    return signingSecret.decrypt(envelope, id);
  },
});
