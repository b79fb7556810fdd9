import type { Client } from '@urql/core';
import { notifyError, notifySuccess } from '../../components/notify.tsx';
import { problemOf } from '../../data/problem.ts';
import { refresh } from '../../data/refresh.ts';
import { graphql } from '../../generated/gql.ts';
import type { CampaignRow } from './campaign-row.ts';

const DUPLICATE = graphql(`
  mutation DuplicateCampaign($input: CreateCampaignInput!) {
    createCampaign(input: $input) {
      id
    }
  }
`);

const EXISTING = graphql(`
  query ExistingParts($ids: [ID!]!) {
    nodes(ids: $ids) {
      id
    }
  }
`);

export interface Copy {
  /** Ends the name, such as "(copy)". */
  suffix: string;
  /** Replaces the groups and segments. */
  segmentIds?: string[];
  /** What is said when the copy is open. */
  message: string;
}

const PLAIN: Copy = { suffix: '(copy)', message: 'Duplicated. You are editing the copy.' };

/** What else is said if groups or segments were deleted since: more people may be in the audience without an excluded one. */
const LEFT_OUT = 'Some of its groups or segments were deleted, so check the recipients.';

/** Makes a draft that copies a campaign, and says so, or why not. @returns its id if it was made */
export async function copyCampaign(client: Client, campaign: CampaignRow, copy = PLAIN): Promise<string | undefined> {
  const { input, message } = await copyOf(client, campaign, copy);
  const result = await client.mutation(DUPLICATE, { input }).toPromise();
  const problem = problemOf(result);
  if (problem !== undefined) {
    notifyError(problem.message);
    return undefined;
  }
  refresh();
  notifySuccess(message);
  return result.data?.createCampaign.id;
}

/** The draft that copies a campaign, with the current template, if it still exists, and without groups and segments that were deleted. */
async function copyOf(client: Client, campaign: CampaignRow, { suffix, segmentIds, message }: Copy) {
  const { name, subject, fromName, fromEmail, replyTo, text, ratePerSecond } = campaign;
  const { previewText, utmSource, utmMedium, utmCampaign, utmTerm, utmContent } = campaign;
  const { html, source, format, templateId, trackOpens, trackClicks } = campaign;
  const audience = {
    groupIds: segmentIds === undefined ? campaign.groupIds : [],
    segmentIds: segmentIds ?? campaign.segmentIds,
    excludedGroupIds: campaign.excludedGroupIds,
    excludedSegmentIds: campaign.excludedSegmentIds,
  };
  const audienceIds = Object.values(audience).flat();
  const ids = [...audienceIds, ...(templateId === null ? [] : [templateId])];
  const { data: found } = await client.query(EXISTING, { ids }, { requestPolicy: 'network-only' }).toPromise();
  // If this cannot be asked, the copy says why it fails.
  const exists = (id: string) => found === undefined || found.nodes.some((node) => node?.id === id);
  const own = html === null ? {} : { html: source ?? html, format };
  const letter = { subject, previewText, fromName, fromEmail, replyTo, text, ratePerSecond, trackOpens, trackClicks };
  return {
    input: {
      name: `${name.slice(0, 180).toWellFormed()} ${suffix}`,
      ...letter,
      groupIds: audience.groupIds.filter(exists),
      segmentIds: audience.segmentIds.filter(exists),
      excludedGroupIds: audience.excludedGroupIds.filter(exists),
      excludedSegmentIds: audience.excludedSegmentIds.filter(exists),
      utmSource,
      utmMedium,
      utmCampaign,
      utmTerm,
      utmContent,
      ...(templateId !== null && exists(templateId) ? { templateId } : own),
    },
    message: audienceIds.every(exists) ? message : `${message} ${LEFT_OUT}`,
  };
}
