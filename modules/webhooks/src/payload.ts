import { randomUUID } from 'node:crypto';
import { type Signed, signature, standardSignature } from '@postroom/guarded-client';

/** An event row. */
export interface EventRow {
  event_id: string;
  event_type: string;
  event_created_at: Date;
  project_id: string;
  /** The JSON text of `data`, exactly as recorded. */
  data: string;
}

/**
 * The request body (spec: Delivery). `data` is the recorded text, not re-serialized, so every attempt and endpoint
 * gets the same bytes.
 */
export function renderBody(event: EventRow): string {
  const created = event.event_created_at.toISOString();
  return `{"id":${JSON.stringify(event.event_id)},"type":${JSON.stringify(event.event_type)},"created":"${created}","project_id":${JSON.stringify(event.project_id)},"data":${event.data}}`;
}

/** The endpoint's signing secret, and for a day after a rotation the previous one. */
export interface SigningSecrets {
  current: string;
  previous: string | undefined;
}

/** 16 hexadecimal digits. Node draws the bytes of UUIDs in bulk, which costs a quarter of drawing them one by one. */
const randomDigits = () => randomUUID().replaceAll('-', '').slice(-16);

/**
 * The headers of one POST: those of the spec, and those that Standard Webhooks libraries verify. `X-Webhook-Id` is
 * unique per POST, even if a killed worker's attempt is repeated.
 */
export function requestHeaders(
  attempt: { deliveryId: string; number: number; eventType: string; secrets: SigningSecrets },
  signed: Signed,
): Record<string, string> {
  const { current, previous } = attempt.secrets;
  const timestamp = String(signed.timestamp);
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Postroom-Webhooks/1',
    'X-Webhook-Id': `${attempt.deliveryId}.${attempt.number}.${randomDigits()}`,
    'X-Webhook-Event': attempt.eventType,
    'X-Webhook-Timestamp': timestamp,
    'X-Webhook-Signature': signature(current, signed),
    ...(previous === undefined ? {} : { 'X-Webhook-Signature-Previous': signature(previous, signed) }),
    'webhook-id': signed.eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature(previous === undefined ? [current] : [current, previous], signed),
  };
}
