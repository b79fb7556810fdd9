import { createServer } from 'node:http';
import { freePorts } from '@postroom/embedded';
import { startSystem, type System } from './system.ts';

const CLIENT = { id: 'postroom', secret: 'a secret of the test' };

/** A system with OpenID Connect sign-in, backed by a local provider. */
export interface SingleSignOn {
  system: System;
  /** The provider's address. */
  issuer: string;
  stop: () => Promise<void>;
}

/** Starts both. `claims` are the provider's accounts, by username. */
export async function startSingleSignOn(owner: string, claims: Record<string, object>): Promise<SingleSignOn> {
  const [port = 0] = await freePorts(1);
  const issuer = `http://127.0.0.1:${port}`;
  const system = await startSystem({
    smtpUrl: 'smtp://127.0.0.1:9',
    env: {
      POSTROOM_OWNER_EMAIL: owner,
      POSTROOM_OWNER_PASSWORD: 'correct horse battery',
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_NAME: 'Acme',
    },
  });
  const { Provider } = await import('oidc-provider'); // no other test has to load it
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${system.url}/app/auth/callback/oidc`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...claims[sub] }) }),
  });
  const server = createServer(provider.callback());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    system,
    issuer,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await system.stop();
    },
  };
}
