import { useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { lazyPage } from '../../app/lazy-page.ts';
import { useProject } from '../../app/session.tsx';
import { useLive } from '../../data/live.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { TextLink } from '../../components/link.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { changesOnItsOwn } from './campaign-labels.ts';
import { Running } from './running.tsx';
import { CAMPAIGN, type CampaignRow } from './campaign-row.ts';

/** Reports, which are opened more often, load without the code that edits drafts. */
const Builder = lazyPage(() => import('./builder.tsx'), 'Builder');

const PROGRESS = graphql(`
  subscription CampaignProgress($id: ID!) {
    campaignProgress(id: $id) {
      id
    }
  }
`);

/** One campaign: the editor before sending, then progress and results. */
export function Campaign() {
  const { campaignId } = useParams({ from: '/auth/p/$projectId/campaigns/$campaignId' });
  const { id: projectId } = useProject();
  const campaign = useApiQuery(CAMPAIGN, { id: campaignId });
  const row = campaign.data?.campaign;
  useTopWhenSent(row?.status);
  useLive(PROGRESS, { id: campaignId }, { pause: row === undefined || !changesOnItsOwn(row) });
  const abTestId = row?.abTestId ?? null;
  const back =
    abTestId === null ? (
      <TextLink to="/p/$projectId/campaigns" params={{ projectId }} size="sm">
        <BackLabel>Campaigns</BackLabel>
      </TextLink>
    ) : (
      <TextLink to="/p/$projectId/ab-tests/$abTestId" params={{ projectId, abTestId }} size="sm">
        <BackLabel>A/B test</BackLabel>
      </TextLink>
    );
  if (row === undefined) {
    return (
      <Page title="Campaign" back={back}>
        <QueryResult of={campaign}>{() => null}</QueryResult>
      </Page>
    );
  }
  return isEditable(row.status) ? (
    <Builder key={row.id} campaign={row} back={back} />
  ) : (
    <Running campaign={row} back={back} />
  );
}

const isEditable = (status: CampaignRow['status']) => status === 'draft' || status === 'scheduled';

/** The button to send is at the end of the builder; the progress that replaces it begins at the top. */
function useTopWhenSent(status: CampaignRow['status'] | undefined): void {
  const before = useRef(status);
  useEffect(() => {
    if (before.current !== undefined && status !== undefined && isEditable(before.current) && !isEditable(status))
      window.scrollTo({ top: 0 });
    before.current = status;
  }, [status]);
}
