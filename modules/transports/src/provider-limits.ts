/** Connection limits that a provider enforces per sender. */
export interface ProviderLimits {
  /** Concurrent connections. */
  connections: number;
  /** Messages per connection. */
  messagesPerConnection: number;
}

/** By hostname suffix. Sources: provider documentation for relays and submission servers, KumoMTA for MX hosts. */
const LIMITS: readonly (readonly [suffix: string, ProviderLimits])[] = [
  ['smtp-relay.gmail.com', { connections: 10, messagesPerConnection: 100 }],
  ['google.com', { connections: 5, messagesPerConnection: 50 }],
  ['gmail.com', { connections: 5, messagesPerConnection: 50 }],
  ['protection.outlook.com', { connections: 5, messagesPerConnection: 50 }],
  ['office365.com', { connections: 3, messagesPerConnection: 30 }],
  ['outlook.com', { connections: 5, messagesPerConnection: 50 }],
  ['yahoodns.net', { connections: 5, messagesPerConnection: 20 }],
  ['yahoo.com', { connections: 5, messagesPerConnection: 20 }],
  ['icloud.com', { connections: 10, messagesPerConnection: 5 }],
  ['me.com', { connections: 10, messagesPerConnection: 5 }],
  ['mimecast.com', { connections: 10, messagesPerConnection: 100 }],
  ['gmx.net', { connections: 4, messagesPerConnection: 20 }],
  ['web.de', { connections: 4, messagesPerConnection: 20 }],
  ['orange.fr', { connections: 2, messagesPerConnection: 100 }],
  ['qq.com', { connections: 4, messagesPerConnection: 8 }],
];

/** For unknown hosts, such as a self-hosted relay. */
const DEFAULT_LIMITS: ProviderLimits = { connections: 10, messagesPerConnection: 100 };

/** The default limits for a host. */
export function providerLimits(host: string): ProviderLimits {
  const name = host.toLowerCase().replace(/\.$/, '');
  return LIMITS.find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`))?.[1] ?? DEFAULT_LIMITS;
}
