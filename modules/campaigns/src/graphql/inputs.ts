import { ContentFormat } from '@postroom/templates/graphql';
import {
  ADDRESS,
  atMost,
  builder,
  jsonSchema,
  listOf,
  MAX_ID_LENGTH,
  MAX_MAILBOX_LENGTH,
  NAME,
  NOT_EMPTY,
  notNull,
  oneLine,
  type InputFields,
} from '@postroom/platform';
import { MAX_SUBJECT_LENGTH } from '@postroom/templating';
import { MAX_ZONE_LENGTH } from '../local-time.ts';
import { MAX_AUDIENCE, MAX_BODY_LENGTH, MAX_PREVIEW_LENGTH, MAX_UTM_LENGTH } from '../campaigns.ts';

export const CampaignStatus = builder.enumType('CampaignStatus', {
  description: 'Status of a campaign.',
  values: {
    draft: { description: 'Can be edited and sent.' },
    scheduled: { description: 'Starts at its scheduled time; can be edited or sent until then.' },
    sending: { description: 'Messages are being sent in the background.' },
    paused: {
      description: 'Nothing is sent until it is resumed. If it was paused automatically, `pauseReason` says why.',
    },
    completed: { description: 'Sent to all recipients.' },
    canceled: { description: 'Ended before all messages were sent.' },
  },
});

const FROM_NAME = oneLine();
const AUDIENCE = listOf({ maxLength: MAX_ID_LENGTH }, { maxItems: MAX_AUDIENCE });
const RATE = jsonSchema({ minimum: 1, maximum: 100_000 });
const BODY = atMost(MAX_BODY_LENGTH);
const UTM = atMost(MAX_UTM_LENGTH);

/** The fields that are the same in a new campaign and in an edit. */
const contentFields = (t: InputFields) => ({
  subject: t.string({
    description: 'At most 998 characters; may contain placeholders such as `{{name|there}}`.',
    ...atMost(MAX_SUBJECT_LENGTH),
  }),
  previewText: t.string({
    description:
      'The line that mail programs show after the subject, at most 300 characters; may contain placeholders.',
    ...atMost(MAX_PREVIEW_LENGTH),
  }),
  fromName: t.string({ description: 'Display name of the sender.', ...FROM_NAME }),
  fromEmail: t.string({
    description: 'From address; its domain must be verified in the project when the campaign is sent.',
    ...jsonSchema(ADDRESS),
  }),
  replyTo: t.string({ description: 'Reply-to addresses.', ...atMost(MAX_MAILBOX_LENGTH) }),
  html: t.string({ description: 'The body, as HTML or MJML; used instead of a template.', ...BODY }),
  format: t.field({ type: ContentFormat, description: 'Format of the body; HTML by default.' }),
  text: t.string({ description: 'The text part; derived from the HTML if omitted.', ...BODY }),
  templateId: t.string({
    description: 'A template that provides the body; the version published when the campaign starts is used.',
    ...atMost(MAX_ID_LENGTH),
  }),
  groupIds: t.stringList({ description: 'Groups to send to.', ...AUDIENCE }),
  segmentIds: t.stringList({ description: 'Segments to send to.', ...AUDIENCE }),
  excludedGroupIds: t.stringList({ description: 'Groups whose members are left out.', ...AUDIENCE }),
  excludedSegmentIds: t.stringList({ description: 'Segments whose contacts are left out.', ...AUDIENCE }),
  utmSource: t.string({ description: 'Added to links without it as `utm_source`.', ...UTM }),
  utmMedium: t.string({ description: 'Added to links without it as `utm_medium`.', ...UTM }),
  utmCampaign: t.string({ description: 'Added to links without it as `utm_campaign`.', ...UTM }),
  utmTerm: t.string({ description: 'Added to links without it as `utm_term`.', ...UTM }),
  utmContent: t.string({ description: 'Added to links without it as `utm_content`.', ...UTM }),
  trackOpens: t.boolean({
    description: "Whether opens are tracked; the project's setting at the start by default.",
  }),
  trackClicks: t.boolean({
    description: "Whether clicks are tracked; the project's setting at the start by default.",
  }),
});

export const CreateCampaignInput = builder.inputType('CreateCampaignInput', {
  description: 'A new campaign. A draft may be incomplete.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Display name, 1 to 200 characters.', ...NAME }),
    ...contentFields(t),
    ratePerSecond: t.int({ description: 'Maximum messages per second.', ...RATE }),
  }),
});

export const UpdateCampaignInput = builder.inputType('UpdateCampaignInput', {
  ...NOT_EMPTY,
  description: 'Fields to update; omitted fields are unchanged, and null clears a field.',
  fields: (t) => ({
    name: t.string({ description: 'A new name; 1 to 200 characters.', ...notNull(NAME) }),
    ...contentFields(t),
    ratePerSecond: t.int({
      description: 'Maximum messages per second. Can be changed while the campaign is sending.',
      ...RATE,
    }),
    version: t.int({
      description: 'The version this edit is based on; `conflict` if it is no longer current.',
    }),
    ifStatus: t.field({
      type: CampaignStatus,
      description:
        'The status this edit is meant for; `conflict` if the campaign has another, for example because it has been scheduled since.',
    }),
  }),
});

/** A date and a time of day without an offset. */
export const LOCAL_TIME = jsonSchema({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d$' });

export const ScheduleCampaignInput = builder.inputType('ScheduleCampaignInput', {
  description: 'When to send a campaign: at an instant, or at a local time.',
  fields: (t) => ({
    scheduledAt: t.field({
      type: 'DateTime',
      description: 'A time in the future, with a UTC offset. Required unless `localTime` is set.',
    }),
    localTime: t.string({
      description:
        'A date and time without an offset, such as `2026-12-01T09:00`, in the future in `timeZone`. Each recipient gets the message at that time in their own time zone; those for whom it has passed at the start get it then.',
      ...LOCAL_TIME,
    }),
    timeZone: t.string({
      description:
        'With `localTime`: the time zone of recipients without a valid one in `timeZoneField`, such as `Europe/Berlin`. UTC if omitted.',
      ...atMost(MAX_ZONE_LENGTH),
    }),
    timeZoneField: t.string({
      description:
        'With `localTime`: the custom field with the time zone of a contact. If omitted, all recipients have that of `timeZone`.',
      ...atMost(MAX_ID_LENGTH),
    }),
    version: t.int({
      description:
        'The version to schedule; `conflict` if the campaign was edited since, so that nothing unseen is scheduled.',
    }),
  }),
});
