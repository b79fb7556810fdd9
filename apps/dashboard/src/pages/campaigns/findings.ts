import type { Problem } from '../../data/problem.ts';

/** Labels of the fields in findings. */
const LABELS: Record<string, string> = {
  subject: 'Subject',
  fromName: 'From name',
  fromEmail: 'From address',
  html: 'Content',
  templateId: 'Content',
  text: 'Text',
  recipients: 'Recipients',
  groupIds: 'Groups',
  segmentIds: 'Segments',
  excludedGroupIds: 'Exclude members of',
  excludedSegmentIds: 'Exclude contacts in',
  previewText: 'Preview text',
  postalAddress: 'Postal address',
  trackOpens: 'Opens',
  trackClicks: 'Clicks',
  frequencyCap: 'Frequency cap',
  body: 'Content',
};

/** Findings name fields and deleted records as the API does; this replaces them with what the page shows. */
const inWords = (message: string) =>
  message
    .replace(/^\w+ is not a (group|segment) of this project$/, 'the $1 was deleted, so remove it')
    .replace(/^has a condition on the group \w+, which/, 'a segment has a condition on a group that')
    .replace(/^has a condition on the (custom field .*), which/s, 'a segment has a condition on the $1, which')
    .replace(/\b(template|group|segment)Id(s?)\b/g, (_, thing: string, many: string) => thing + many);

/** Most messages continue the label, as in "Subject is required"; others follow a colon. */
export function finding(field: string, message: string): string {
  const [, variant, ofVariant] = /^variants\.(\d+)\.(.+)$/.exec(field) ?? [];
  if (ofVariant !== undefined)
    return `Variant ${String.fromCharCode(65 + Number(variant))}: ${finding(ofVariant, message)}`;
  const label = LABELS[field.replace(/\.\d+$/, '')];
  const words = inWords(message);
  if (label === undefined) return words;
  return `${label}${/^(\p{Lu}|the |a )/u.test(words) ? ':' : ''} ${words}`;
}

/** Why a campaign was refused, with what each field is called on its page. */
export function inCampaignWords(problem: Problem | undefined): Problem | undefined {
  if (problem?.code !== 'validation_error' || !problem.details?.length) return problem;
  return { ...problem, message: problem.details.map(({ field, message }) => `${finding(field, message)}.`).join(' ') };
}
