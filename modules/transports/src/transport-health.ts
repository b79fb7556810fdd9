import { logger, pool, type Prisma } from '@postroom/platform';
import type { SendOutcome } from '@postroom/smtp';
import type { Transport } from './transport.ts';

/** Settings that have been changed since are another matter, and what has been said already is not said again. */
const NOTE = `
  UPDATE mail_providers SET status = $3::connection_status, status_reason = $4, checked_at = now()
  WHERE id = $1 AND revision = $2 AND (status, status_reason) IS DISTINCT FROM ($3::connection_status, $4)`;

/**
 * The way of a provider, which notes on its row how mail fares with it: that it can't be reached, shows a certificate that nobody
 * vouches for, or refuses our password; and that it takes mail again. A refusal of one message says nothing of the way.
 */
export function withTransportHealth(
  { id, revision }: Pick<Prisma.MailProviderModel, 'id' | 'revision'>,
  way: Transport,
): Transport {
  let said: string | null | undefined;
  const note = (reason: string | null) => {
    if (reason === said) return;
    said = reason;
    pool
      .query(NOTE, [id, revision, reason === null ? 'working' : 'failing', reason])
      .catch((error: unknown) => logger.warn({ err: error, id }, 'how a way out fares was not noted'));
  };
  return {
    id: way.id,
    signing: way.signing,
    get width() {
      return way.width;
    },
    send: async (message, traffic) => {
      const outcome = await way.send(message, traffic);
      if (outcome.kind === 'accepted') note(null);
      else if (isTransportFailure(outcome)) note(outcome.answer);
      return outcome;
    },
    close: () => way.close(),
  };
}

/** Whether no message would have got through: the way could not be used, or takes nothing from us. */
export function isTransportFailure(outcome: SendOutcome): boolean {
  if (outcome.kind === 'refused') return outcome.verdict === 'configuration';
  if (outcome.kind !== 'deferred' || outcome.scope !== 'host') return false;
  return outcome.unreachable === true || outcome.stop === 'account';
}
