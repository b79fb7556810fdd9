import { useProject } from '../../app/session.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { deliveredShare, number, percent, reachOf, STATUS_LABELS } from '../campaigns/campaign-labels.ts';
import type { Overview } from './overview.ts';

/** The five latest campaigns. */
export function RecentCampaigns({ campaigns }: { campaigns: Overview['recent']['nodes'] }) {
  const { id: projectId } = useProject();
  if (campaigns.length === 0) return null;
  return (
    <Section
      title="Recent campaigns"
      actions={
        <ButtonLink variant="default" size="compact-sm" to="/p/$projectId/campaigns" params={{ projectId }}>
          All campaigns
        </ButtonLink>
      }
    >
      <DataTable
        label="Recent campaigns"
        rows={campaigns}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Campaign',
            cell: ({ id, name }) => (
              <RowLink to="/p/$projectId/campaigns/$campaignId" params={{ projectId, campaignId: id }}>
                {name}
              </RowLink>
            ),
          },
          {
            title: 'Status',
            width: 130,
            cell: ({ status }) => <StatusBadge tone={STATUS_LABELS[status][0]}>{STATUS_LABELS[status][1]}</StatusBadge>,
          },
          {
            title: 'Sent',
            align: 'right',
            from: 'sm',
            cell: ({ engagement: { sent } }) => (sent === 0 ? '–' : number(sent)),
          },
          {
            title: 'Delivered',
            align: 'right',
            from: 'sm',
            cell: ({ engagement }) => deliveredShare(engagement),
          },
          {
            title: 'Opened',
            align: 'right',
            from: 'md',
            cell: ({ engagement }) => percent(engagement.opened, reachOf(engagement).count),
          },
          {
            title: 'When',
            untitled: true,
            from: 'sm',
            width: 160,
            cell: ({ startedAt, scheduledAt }) => {
              const at = startedAt ?? scheduledAt;
              return at === null ? '–' : <When at={at} />;
            },
          },
        ]}
      />
    </Section>
  );
}
