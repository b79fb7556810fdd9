import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { notifySuccess } from '../../components/notify.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import type { CampaignRow } from './campaign-row.ts';

const DUPLICATE = graphql(`
  mutation DuplicateCampaign($input: CreateCampaignInput!) {
    createCampaign(input: $input) {
      id
    }
  }
`);

/** Duplicates a campaign as a draft and opens it. Uses the current template, if it still exists. */
export function useDuplicate(campaign: CampaignRow) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(DUPLICATE);
  const run = async () => {
    const { name, subject, fromName, fromEmail, replyTo, text, ratePerSecond } = campaign;
    const { groupIds, segmentIds, excludedGroupIds, excludedSegmentIds } = campaign;
    const { previewText, utmSource, utmMedium, utmCampaign, utmTerm, utmContent } = campaign;
    const { html, source, format, templateId, templateVersion } = campaign;
    const own = html === null ? {} : { html: source ?? html, format };
    const draft = {
      name: `${name.slice(0, 190).toWellFormed()} (copy)`,
      subject,
      fromName,
      fromEmail,
      replyTo,
      text,
      previewText,
      groupIds,
      segmentIds,
      excludedGroupIds,
      excludedSegmentIds,
      utmSource,
      utmMedium,
      utmCampaign,
      utmTerm,
      utmContent,
      ratePerSecond,
      trackOpens: campaign.trackOpens,
      trackClicks: campaign.trackClicks,
    };
    const data =
      (await create.run({ input: { ...draft, ...(templateId === null ? own : { templateId }) } })) ??
      (templateId !== null && templateVersion !== null ? await create.run({ input: { ...draft, ...own } }) : undefined);
    if (data === undefined) return;
    notifySuccess('Duplicated. You are editing the copy.');
    void navigate({
      to: '/p/$projectId/campaigns/$campaignId',
      params: { projectId, campaignId: data.createCampaign.id },
    });
  };
  return { run, running: create.running, problem: create.problem };
}
