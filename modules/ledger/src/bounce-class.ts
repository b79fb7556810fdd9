import { classify, type Verdict } from '@postroom/smtp';

/** Why a message bounced, by the server's reply. The descriptions are shown in the API reference. */
export const BOUNCE_CLASSES = {
  hard: 'The address does not exist, or no reason was given. It is suppressed.',
  soft: 'The recipient could not receive mail at the time, for example because the mailbox was full.',
  policy: "The sender's reputation or DNS records were refused.",
  content: 'The content was refused.',
  other: 'For another reason.',
} as const;

export type BounceClass = keyof typeof BOUNCE_CLASSES;

const BY_VERDICT: Partial<Record<Verdict, BounceClass>> = {
  hard_bounce: 'hard',
  soft_bounce: 'soft',
  throttle: 'soft',
  greylist: 'soft',
  transient: 'soft',
  policy: 'policy',
  content: 'content',
};

/** The class of a bounce. @param detail the server's reply, if the report has one. */
export const bounceClassOf = (detail: string | null | undefined): BounceClass =>
  detail == null || detail === '' ? 'hard' : (BY_VERDICT[classify(detail).verdict] ?? 'other');
