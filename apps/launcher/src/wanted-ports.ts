import type { Ports } from './options.ts';
import { userSettings } from './settings.ts';

/** The PostgreSQL and the Temporal that the user has, instead of embedded ones. */
export const ownDatabase = () => userSettings().DATABASE_URL;
export const ownTemporal = () => userSettings().TEMPORAL_ADDRESS;

/** The ports that are going to be listened on, and for what. */
export function wantedPorts(ports: Ports): Map<number, string> {
  return new Map([
    [ports.gateway, 'gateway'],
    ...(ownTemporal() === undefined
      ? ([
          [ports.temporal, 'Temporal'],
          [ports.temporalUi, 'Temporal UI'],
        ] as const)
      : []),
    [ports.inboxSmtp, 'inbox, SMTP'],
    [ports.inboxWeb, 'inbox, HTTP'],
    [ports.submission, 'SMTP submission'],
    [ports.bounceSmtp, 'bounces'],
    ...(ownDatabase() === undefined ? ([[ports.postgres, 'PostgreSQL']] as const) : []),
  ]);
}
