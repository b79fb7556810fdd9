/** What a server takes from one sender without complaint, where it is known to mind. */
export interface ProviderLimits {
  /** Connections at a time. */
  connections: number;
  /** Messages over one of them. */
  messagesPerConnection: number;
}

/** By the end of the host's name. Of relays and submission servers these are their own words; of MX hosts, KumoMTA's. */
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

/** For hosts that are nobody's in particular: a relay of one's own. */
const USUAL: ProviderLimits = { connections: 10, messagesPerConnection: 100 };

/** How a host is treated when nobody says otherwise. */
export function providerLimits(host: string): ProviderLimits {
  const name = host.toLowerCase().replace(/\.$/, '');
  return LIMITS.find(([suffix]) => name === suffix || name.endsWith(`.${suffix}`))?.[1] ?? USUAL;
}
