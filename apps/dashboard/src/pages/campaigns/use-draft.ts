import { useBlocker } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useVersionedForm } from '../../data/versioned-form.ts';
import { graphql } from '../../generated/gql.ts';
import type { ContentFormat } from '../../generated/graphql.ts';
import type { CampaignRow } from './campaign.tsx';

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

/** A campaign draft. */
export interface Draft {
  name: string;
  subject: string;
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
  ratePerSecond: number | null;
  /** Whether opens and clicks are tracked; null means the project default. */
  trackOpens: boolean | null;
  trackClicks: boolean | null;
}

function draftOf(row: CampaignRow): Draft {
  return {
    name: row.name,
    subject: row.subject ?? '',
    fromName: row.fromName ?? '',
    fromEmail: row.fromEmail ?? '',
    replyTo: row.replyTo ?? '',
    body: row.html === null ? 'template' : row.format,
    templateId: row.templateId,
    written: row.source ?? row.html ?? '',
    groupIds: row.groupIds,
    segmentIds: row.segmentIds,
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
    fromName: orNull(draft.fromName),
    fromEmail: orNull(draft.fromEmail),
    replyTo: orNull(draft.replyTo),
    groupIds: draft.groupIds,
    segmentIds: draft.segmentIds,
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

/** The draft, autosaved unless there is a conflict. */
export function useDraft(campaign: CampaignRow) {
  const edited = useVersionedForm({ content: draftOf(campaign), version: campaign.version }, { units: UNITS });
  const { content: draft, set, isSaved, conflict, version } = edited;
  const update = useApiMutation(UPDATE);
  const save = () =>
    edited.save(async (content, writtenOn) => {
      const input = { ...inputOf(content), version: Number(writtenOn) };
      return (await update.run({ id: campaign.id, input }))?.updateCampaign.version;
    });
  const saveSoon = useEffectEvent(() => void save());
  const waits = isSaved || conflict !== undefined;
  useEffect(() => {
    if (waits) return undefined;
    const timer = setTimeout(() => saveSoon(), TYPING_MS);
    return () => clearTimeout(timer);
  }, [draft, waits, version]);
  useBlocker({
    shouldBlockFn: async () =>
      !isSaved && !(await save()) && !window.confirm('Your changes could not be saved. Leave anyway?'),
    enableBeforeUnload: () => !isSaved,
  });
  // Reports save errors; conflicts are shown separately.
  const problem = isSaved || update.problem?.fields.version !== undefined ? undefined : update.problem;
  return { draft, set, saving: update.running, problem, isSaved, conflict, save };
}
