import type { Prisma } from '@postroom/platform';

export type MailboxProvider = Prisma.MailboxAccountModel['provider'];

/** Where an OAuth2 flow goes. `{tenant}` stands for whose accounts may sign in. */
export interface OAuthEndpoints {
  authorizeUrl: string;
  tokenUrl: string;
  scopes: readonly string[];
  /** What else goes along when consent is asked for. */
  parameters: Readonly<Record<string, string>>;
}

/** What is known of a mailbox provider. */
export interface Preset {
  host: string;
  port: number;
  implicitTls: boolean;
  /** Four fifths of what the provider stops at, so that a person can still write. */
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
      // Without these Google gives no refresh token to somebody who has consented before.
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
