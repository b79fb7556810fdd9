import { databaseTime, isId } from '@postroom/platform';
import { z } from 'zod';
import type { Report } from '@postroom/bounces';
import { classify } from '@postroom/smtp';
import { MESSAGE_TAG } from './ses.ts';

const at = z.string().optional();

/** The fields of SES events that we read; unknown fields are ignored. */
const sesEvent = z.object({
  eventType: z.string().optional(),
  /** The name in identity notifications, sent without a configuration set. */
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

/** A report with the recipient according to SES; each of our messages has one. */
export interface SesReport extends Report {
  destination?: string | undefined;
}

/**
 * Converts an SES event to a report; undefined for events that aren't recorded: delays, sends (known from the API response),
 * and opens and clicks (tracked by our own pixel and links).
 */
export function reportOf(text: string): SesReport | undefined {
  const parsed = sesEvent.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const event = parsed.data;
  const messageId = messageIdOf(event);
  if (messageId === undefined) return undefined;
  const report = (kind: Report['kind'], when: string | undefined, detail?: string): SesReport => ({
    messageId,
    destination: event.mail.destination?.[0],
    kind,
    at: dateOf(when ?? event.mail.timestamp, databaseTime()),
    ...(detail === undefined ? {} : { detail }),
  });
  switch (event.eventType ?? event.notificationType) {
    case 'Delivery':
      return report('delivered', event.delivery?.timestamp);
    case 'Bounce':
      return report('bounced', event.bounce?.timestamp, bounceDetail(event.bounce));
    case 'Complaint':
      // The recipient moved the message out of spam: the opposite of a complaint.
      if (event.complaint?.complaintFeedbackType === 'not-spam') return undefined;
      return report('complained', event.complaint?.timestamp, event.complaint?.complaintFeedbackType ?? undefined);
    case 'Reject':
      return report('rejected', undefined, event.reject?.reason ?? 'Rejected by Amazon SES');
    default:
      return undefined;
  }
}

/**
 * A bounce's detail for `classify`: the remote server's reply if it is specific enough, else the SES bounce type. SES reports
 * a block-listed SES IP as permanent, which must not suppress the recipient.
 */
function bounceDetail(bounce: SesEvent['bounce']): string {
  const { bounceType, bounceSubType, bouncedRecipients } = bounce ?? {
    bounceType: 'Undetermined',
    bounceSubType: 'Undetermined',
    bouncedRecipients: [],
  };
  const [recipient] = bouncedRecipients;
  const reply = recipient?.diagnosticCode ?? recipient?.status ?? '';
  const summary = `SES bounce ${bounceType}/${bounceSubType}${reply === '' ? '' : `: ${reply}`}`;
  if (bounceType !== 'Permanent' || reply === '') return summary;
  return classify(reply).verdict === 'other' ? summary : reply;
}

/** The message's id, from its tag or its original Message-ID. */
function messageIdOf({ mail }: SesEvent): string | undefined {
  const header = mail.headers?.find(({ name }) => name.toLowerCase() === 'message-id')?.value;
  const candidates = [mail.tags?.[MESSAGE_TAG]?.[0], /<?(eml_[0-9a-z]+)@/.exec(header ?? '')?.[1]];
  return candidates.find((id) => id !== undefined && isId('eml', id));
}

function dateOf(text: string | undefined, fallback: Date): Date {
  const date = text === undefined ? fallback : new Date(text);
  return Number.isNaN(date.getTime()) ? fallback : date;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
