import type { MailboxProvider, MailboxStatus } from '../../generated/graphql.ts';
import type { Tone } from '../../components/badge.tsx';

/** Mailbox provider presets; limits default to the server's. */
export const MAILBOX_PROVIDERS: Record<
  MailboxProvider,
  { label: string; password: string; perMinute: number; dailyCap: number }
> = {
  gmail: {
    label: 'Gmail',
    password:
      'Use an app password; your regular password does not work. Create one in your Google account with 2-Step Verification on.',
    perMinute: 20,
    dailyCap: 400,
  },
  microsoft: {
    label: 'Microsoft 365',
    password: 'The mailbox password. “Authenticated SMTP” must be enabled for the mailbox.',
    perMinute: 24,
    dailyCap: 2000,
  },
  other: { label: 'Other', password: 'The mailbox password or an app password.', perMinute: 5, dailyCap: 300 },
};

export const MAILBOX_STATES: Record<MailboxStatus, { label: string; tone: Tone }> = {
  connected: { label: 'Connected', tone: 'good' },
  connecting: { label: 'Authorization required', tone: 'warn' },
  needs_attention: { label: 'Needs attention', tone: 'bad' },
};

/** Parses a number field; undefined if blank. */
export const numberOrNull = (value: number | string): number | null => (value === '' ? null : Number(value));

/** A trimmed text field; undefined if blank. */
export const textOrNull = (value: string): string | null => (value.trim() === '' ? null : value.trim());
