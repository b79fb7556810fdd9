import { Counter, Histogram } from '@postroom/platform/metrics';
import type { SendOutcome } from '@postroom/smtp';
import type { Traffic } from './smtp-pools.ts';

/** How mail leaves, as metrics name it: an id per provider would be a time series for each. */
export type TransportKind = 'relay' | 'smtp' | 'ses' | 'mailbox';

const sends = new Counter({
  name: 'postroom_sends_total',
  help: 'Messages handed to a mail server, by outcome, transport and traffic.',
  labelNames: ['outcome', 'transport', 'traffic'],
});
const seconds = new Histogram({
  name: 'postroom_send_duration_seconds',
  help: "From handing a message to a transport, including the wait for its rate limit and connections, to the server's answer.",
  labelNames: ['transport', 'traffic'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
});

/** Sends and counts the outcome. */
export async function measureSend(
  transport: TransportKind,
  traffic: Traffic,
  send: () => Promise<SendOutcome>,
): Promise<SendOutcome> {
  const startedAt = performance.now();
  let outcome: SendOutcome['kind'] | 'error' = 'error';
  try {
    const result = await send();
    outcome = result.kind;
    return result;
  } finally {
    seconds.observe({ transport, traffic }, (performance.now() - startedAt) / 1000);
    sends.inc({ transport, traffic, outcome });
  }
}
