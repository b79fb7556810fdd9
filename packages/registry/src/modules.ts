/**
 * The feature modules, in the order of the API reference. To add one, create its folder below `modules/` and add its
 * name here.
 */
export const MODULES: readonly string[] = [
  'projects',
  'emails',
  'contacts',
  'privacy',
  'custom-events',
  'groups',
  'imports',
  'bulk',
  'campaigns',
  'ab-tests',
  'sending-policy',
  'journeys',
  'backtests',
  'forms',
  'recipients',
  'templates',
  'domains',
  'events',
  'webhooks',
  'insights',
  'auth',
  'notifications',
  'audit',
  'ledger',
  'transports',
  'tracking',
  'bounces',
  'unsubscribe',
];
