import { useEffect, useEffectEvent } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { RESPONSE_TIMEOUT_MS } from '../../data/problem.ts';
import { onStale } from '../../data/refresh.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { graphql } from '../../generated/gql.ts';
import type { ContentFormat } from '../../generated/graphql.ts';
import type { CampaignRow } from './campaign-row.ts';

const UPDATE = graphql(`
  mutation UpdateCampaign($id: ID!, $input: UpdateCampaignInput!) {
    updateCampaign(id: $id, input: $input) {
      id
      version
    }
  }
`);

/** The autosave delay, in ms. */
const TYPING_MS = 700;

/** The delay before a save that did not reach the server is retried, in ms. */
const RETRY_MS = 5_000;

/** Drafts are saved again by themselves. */
const SAVED_LATER = "Can't reach the server. Your changes are saved once it responds.";

/** A campaign draft. */
export interface Draft {
  name: string;
  subject: string;
  previewText: string;
  fromName: string;
  fromEmail: string;
  replyTo: string;
  /** The body comes from a template or is custom content in a format. */
  body: 'template' | ContentFormat;
  templateId: string | null;
  /** Custom content, in the format of `body`. */
  written: string;
  groupIds: string[];
  segmentIds: string[];
  excludedGroupIds: string[];
  excludedSegmentIds: string[];
  utmSource: string;
  utmMedium: string;
  utmCampaign: string;
  utmTerm: string;
  utmContent: string;
  ratePerSecond: number | null;
  /** Whether opens and clicks are tracked; null means the project default. */
  trackOpens: boolean | null;
  trackClicks: boolean | null;
}

function draftOf(row: CampaignRow): Draft {
  return {
    name: row.name,
    subject: row.subject ?? '',
    previewText: row.previewText ?? '',
    fromName: row.fromName ?? '',
    fromEmail: row.fromEmail ?? '',
    replyTo: row.replyTo ?? '',
    body: row.html === null ? 'template' : row.format,
    templateId: row.templateId,
    written: row.source ?? row.html ?? '',
    groupIds: row.groupIds,
    segmentIds: row.segmentIds,
    excludedGroupIds: row.excludedGroupIds,
    excludedSegmentIds: row.excludedSegmentIds,
    utmSource: row.utmSource ?? '',
    utmMedium: row.utmMedium ?? '',
    utmCampaign: row.utmCampaign ?? '',
    utmTerm: row.utmTerm ?? '',
    utmContent: row.utmContent ?? '',
    ratePerSecond: row.ratePerSecond,
    trackOpens: row.trackOpens,
    trackClicks: row.trackClicks,
  };
}

const orNull = (text: string) => (text.trim() === '' ? null : text);

function inputOf({ body, templateId, written, ...draft }: Draft) {
  return {
    name: draft.name,
    subject: orNull(draft.subject),
    previewText: orNull(draft.previewText),
    fromName: orNull(draft.fromName),
    fromEmail: orNull(draft.fromEmail),
    replyTo: orNull(draft.replyTo),
    groupIds: draft.groupIds,
    segmentIds: draft.segmentIds,
    excludedGroupIds: draft.excludedGroupIds,
    excludedSegmentIds: draft.excludedSegmentIds,
    utmSource: orNull(draft.utmSource),
    utmMedium: orNull(draft.utmMedium),
    utmCampaign: orNull(draft.utmCampaign),
    utmTerm: orNull(draft.utmTerm),
    utmContent: orNull(draft.utmContent),
    ratePerSecond: draft.ratePerSecond,
    trackOpens: draft.trackOpens,
    trackClicks: draft.trackClicks,
    ...contentOf({ body, templateId, written }),
  };
}

/** Keeps custom content until a template is chosen. */
function contentOf({ body, templateId, written }: Pick<Draft, 'body' | 'templateId' | 'written'>) {
  if (body === 'template') return templateId === null ? {} : { templateId, html: null };
  if (written.trim() === '') return { templateId: null, html: null };
  return { templateId: null, html: written, format: body };
}

/** The body fields change together. */
const UNITS: (keyof Draft)[][] = [['written', 'body', 'templateId']];

/**
 * The draft, autosaved unless there is a conflict. Changes to a scheduled campaign wait until they are confirmed, which is when
 * `save` is called.
 */
export function useDraft(campaign: CampaignRow) {
  const { id, status } = campaign;
  const isScheduled = status === 'scheduled';
  const saved = draftOf(campaign);
  const update = useApiMutation(UPDATE);
  const edited = useVersionedForm({ content: saved, version: campaign.version }, { mutation: update, units: UNITS });
  const { content: draft, set, isSaved, conflict, version } = edited;
  const save = () =>
    edited.save(async (content, writtenOn) => {
      // If it has been scheduled or unscheduled meanwhile, the page shows that first.
      const input = { ...inputOf(content), version: Number(writtenOn), ifStatus: status };
      return (await update.run({ id, input }))?.updateCampaign.version;
    });
  const saveSoon = useEffectEvent(() => void save());
  const waits = isSaved || conflict !== undefined || isScheduled;
  useEffect(() => {
    if (waits) return undefined;
    const timer = setTimeout(() => saveSoon(), TYPING_MS);
    return () => clearTimeout(timer);
  }, [draft, waits, version]);
  const failure = update.running ? undefined : update.problem?.code;
  useEffect(() => {
    if (waits || failure !== 'unreachable') return undefined;
    const timer = setTimeout(() => saveSoon(), RETRY_MS);
    return () => clearTimeout(timer);
  }, [waits, failure]);
  // Data becomes stale once the user has signed in again.
  useEffect(() => (waits || failure !== 'unauthorized' ? undefined : onStale(() => saveSoon())), [waits, failure]);
  useUnsavedChanges(!isSaved, async () => {
    if (isScheduled) return 'Your changes to this scheduled campaign are not saved. Leave anyway?';
    const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), RESPONSE_TIMEOUT_MS));
    return (await Promise.race([save(), late])) ? undefined : 'Your changes could not be saved. Leave anyway?';
  });
  // Reports save errors; conflicts are shown separately.
  const shown = isSaved || edited.problem?.fields.ifStatus !== undefined ? undefined : edited.problem;
  const problem = shown && !isScheduled && failure === 'unreachable' ? { ...shown, message: SAVED_LATER } : shown;
  const changed = keysOf(draft).filter((key) => JSON.stringify(draft[key]) !== JSON.stringify(saved[key]));
  return {
    draft,
    set,
    saving: update.running,
    problem,
    isSaved,
    conflict,
    version,
    save,
    changed,
    discard: () => set(saved),
  };
}

const keysOf = (draft: Draft) => Object.keys(draft) as (keyof Draft)[];

export interface PartProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  errors: Record<string, string>;
  readOnly: boolean;
}
