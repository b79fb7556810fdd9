import { SharedSlots } from '@postroom/platform';
import { createSmtpPool, type Relay, type SmtpPool, type SmtpPoolOptions } from '@postroom/smtp';

/**
 * A connection pool whose limit holds over all processes.
 * @param name of the limit: pools with the same name share it.
 */
export function createSharedPool(
  name: string,
  relay: Relay,
  options: SmtpPoolOptions & { connections: number },
): SmtpPool {
  const slots = new SharedSlots(`connections ${name}`, { most: options.connections });
  return createSmtpPool(relay, { ...options, slots });
}
