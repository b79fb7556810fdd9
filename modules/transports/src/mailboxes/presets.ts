import type { Prisma } from '@postroom/platform';

export type MailboxProvider = Prisma.MailboxAccountModel['provider'];

/** Endpoints of an OAuth2 flow. `{tenant}` is replaced by the Microsoft tenant. */
interface OAuthEndpoints {
  authorizeUrl: string;
  tokenUrl: string;
  scopes: readonly string[];
  /** Additional parameters of the authorization request. */
  parameters: Readonly<Record<string, string>>;
}

/** Defaults of a mailbox provider. */
export interface Preset {
  host: string;
  port: number;
  implicitTls: boolean;
  /** At most 80 % of the provider's limit, so the mailbox's owner can still send. */
  perMinute: number;
  dailyCap: number;
  oauth: OAuthEndpoints | undefined;
}

export const PRESETS: Record<MailboxProvider, Preset> = {
  gmail: {
    host: 'smtp.gmail.com',
    port: 465,
    implicitTls: true,
    perMinute: 20,
    dailyCap: 400,
    oauth: {
      authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenUrl: 'https://oauth2.googleapis.com/token',
      scopes: ['https://mail.google.com/'],
      // Without these, Google issues no refresh token to a user who has consented before.
      parameters: { access_type: 'offline', prompt: 'consent' },
    },
  },
  microsoft: {
    host: 'smtp.office365.com',
    port: 587,
    implicitTls: false,
    perMinute: 24,
    dailyCap: 2_000,
    oauth: {
      authorizeUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
      tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
      scopes: ['https://outlook.office.com/SMTP.Send', 'offline_access'],
      parameters: { prompt: 'select_account' },
    },
  },
  other: { host: '', port: 587, implicitTls: false, perMinute: 5, dailyCap: 300, oauth: undefined },
};
