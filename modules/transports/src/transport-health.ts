import { assertNoTransaction, logger, pool, type Prisma } from '@postroom/platform';
import type { SendOutcome } from '@postroom/smtp';
import type { Transport } from './transport.ts';

/** Skips outdated revisions and rows that already have this status. */
const UPDATE_STATUS = `
  UPDATE mail_providers SET status = $3::connection_status, status_reason = $4, checked_at = now()
  WHERE id = $1 AND revision = $2 AND (status, status_reason) IS DISTINCT FROM ($3::connection_status, $4)`;

/**
 * Wraps a provider's transport to record its health in its row: failing if it is unreachable, has an untrusted certificate,
 * rejects our credentials or takes no mail at all; working once it accepts mail again. Refusing a single message doesn't affect
 * health, nor does asking for less mail.
 */
export function withTransportHealth(
  { id, revision }: Pick<Prisma.MailProviderModel, 'id' | 'revision'>,
  transport: Transport,
): Transport {
  let lastReason: string | null | undefined;
  const record = (reason: string | null) => {
    if (reason === lastReason) return;
    lastReason = reason;
    pool
      .query(UPDATE_STATUS, [id, revision, reason === null ? 'working' : 'failing', reason])
      .catch((error: unknown) => logger.warn({ err: error, id }, 'transport health not recorded'));
  };
  return {
    id: transport.id,
    kind: transport.kind,
    signing: transport.signing,
    get width() {
      return transport.width;
    },
    send: async (message, traffic) => {
      assertNoTransaction('Mail was sent');
      const outcome = await transport.send(message, traffic);
      if (outcome.kind === 'accepted') record(null);
      else if (isTransportFailure(outcome) || isClosing(outcome)) record(outcome.answer);
      return outcome;
    },
    close: () => transport.close(),
  };
}

/** Whether the server takes no mail at the moment, such as one that is being stopped; a throttle names a time. */
const isClosing = (outcome: SendOutcome): boolean =>
  outcome.kind === 'deferred' && outcome.scope === 'host' && outcome.waitMs === undefined;

/** Whether the failure affects every message: the transport is unreachable or rejects all our mail. */
export function isTransportFailure(outcome: SendOutcome): boolean {
  if (outcome.kind === 'refused') return outcome.verdict === 'configuration';
  if (outcome.kind !== 'deferred' || outcome.scope !== 'host') return false;
  return outcome.unreachable === true || outcome.stop === 'account';
}
