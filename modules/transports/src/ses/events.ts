import { isId } from '@postroom/platform';
import { z } from 'zod';
import type { Report } from '@postroom/bounces';
import { classify } from '@postroom/smtp';
import { MESSAGE_TAG } from './ses.ts';

const at = z.string().optional();

/** The members of SES's events that we read; there are more, and there will be. */
const sesEvent = z.object({
  eventType: z.string().optional(),
  /** As it is called in notifications that an identity sends without a configuration set. */
  notificationType: z.string().optional(),
  mail: z.object({
    timestamp: at,
    destination: z.array(z.string()).optional(),
    tags: z.record(z.string(), z.array(z.string())).optional(),
    headers: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
  }),
  delivery: z.object({ timestamp: at }).optional(),
  bounce: z
    .object({
      timestamp: at,
      bounceType: z.string().default('Undetermined'),
      bounceSubType: z.string().default('Undetermined'),
      bouncedRecipients: z
        .array(z.object({ diagnosticCode: z.string().optional(), status: z.string().optional() }))
        .default([]),
    })
    .optional(),
  complaint: z.object({ timestamp: at, complaintFeedbackType: z.string().nullish() }).optional(),
  reject: z.object({ reason: z.string().optional() }).optional(),
});

type SesEvent = z.infer<typeof sesEvent>;

/** A report, and whom SES says the message went to: each of ours has one recipient. */
export interface SesReport extends Report {
  destination?: string | undefined;
}

/**
 * What an event of SES tells of a message of ours; undefined when it tells nothing that is recorded: a delay that may end
 * well, a send that the answer of SES told already, and opens and clicks, which our own pixel and links count.
 */
export function reportOf(text: string, receivedAt = new Date()): SesReport | undefined {
  const parsed = sesEvent.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const event = parsed.data;
  const messageId = messageIdOf(event);
  if (messageId === undefined) return undefined;
  const report = (kind: Report['kind'], when: string | undefined, detail?: string): SesReport => ({
    messageId,
    destination: event.mail.destination?.[0],
    kind,
    at: dateOf(when ?? event.mail.timestamp, receivedAt),
    ...(detail === undefined ? {} : { detail }),
  });
  switch (event.eventType ?? event.notificationType) {
    case 'Delivery':
      return report('delivered', event.delivery?.timestamp);
    case 'Bounce':
      return report('bounced', event.bounce?.timestamp, bounceDetail(event.bounce));
    case 'Complaint':
      // Somebody took the mail out of the spam folder: the contrary of a complaint.
      if (event.complaint?.complaintFeedbackType === 'not-spam') return undefined;
      return report('complained', event.complaint?.timestamp, event.complaint?.complaintFeedbackType ?? undefined);
    case 'Reject':
      return report('rejected', undefined, event.reject?.reason ?? 'Rejected by Amazon SES');
    default:
      return undefined;
  }
}

/**
 * A bounce in words that the table of replies reads: those of the server that refused, where they say enough, else those of
 * SES. So a listing of an address of SES, which SES takes for permanent, suppresses nobody.
 */
function bounceDetail(bounce: SesEvent['bounce']): string {
  const { bounceType, bounceSubType, bouncedRecipients } = bounce ?? {
    bounceType: 'Undetermined',
    bounceSubType: 'Undetermined',
    bouncedRecipients: [],
  };
  const [recipient] = bouncedRecipients;
  const words = recipient?.diagnosticCode ?? recipient?.status ?? '';
  const inWords = `SES bounce ${bounceType}/${bounceSubType}${words === '' ? '' : `: ${words}`}`;
  if (bounceType !== 'Permanent' || words === '') return inWords;
  return classify(words).verdict === 'other' ? inWords : words;
}

/** The row that the mail was sent for: of its tag, or of its Message-ID as we wrote it. */
function messageIdOf({ mail }: SesEvent): string | undefined {
  const header = mail.headers?.find(({ name }) => name.toLowerCase() === 'message-id')?.value;
  const candidates = [mail.tags?.[MESSAGE_TAG]?.[0], /<?(eml_[0-9a-z]+)@/.exec(header ?? '')?.[1]];
  return candidates.find((id) => id !== undefined && isId('eml', id));
}

function dateOf(text: string | undefined, otherwise: Date): Date {
  const date = text === undefined ? otherwise : new Date(text);
  return Number.isNaN(date.getTime()) ? otherwise : date;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
