import { Card } from '@mantine/core';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { SentAudienceQuery } from '../../generated/graphql.ts';
import { DescriptionList } from '../../components/description-list.tsx';
import { TextLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { stateOf } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { workflowItem } from '../../components/workflow-link.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { describeTracking } from './campaign-labels.ts';
import { formatAnyLocalTime } from './zoned.ts';

const SENT_AUDIENCE = graphql(`
  query SentAudience($groupIds: [ID!]!, $segmentIds: [ID!]!, $excludedGroupIds: [ID!]!, $excludedSegmentIds: [ID!]!) {
    groups: nodes(ids: $groupIds) {
      ...AudienceName
    }
    segments: nodes(ids: $segmentIds) {
      ...AudienceName
    }
    excludedGroups: nodes(ids: $excludedGroupIds) {
      ...AudienceName
    }
    excludedSegments: nodes(ids: $excludedSegmentIds) {
      ...AudienceName
    }
  }
  fragment AudienceName on Node {
    ... on Group {
      name
    }
    ... on Segment {
      name
    }
  }
`);

const SENT_TEMPLATE = graphql(`
  query SentTemplate($id: ID!) {
    template(id: $id) {
      id
      name
    }
  }
`);

/** How a started campaign was set up. */
export function Setup({ campaign }: { campaign: CampaignRow }) {
  const { groupIds, segmentIds, excludedGroupIds, excludedSegmentIds } = campaign;
  const audience = useApiQuery(SENT_AUDIENCE, { groupIds, segmentIds, excludedGroupIds, excludedSegmentIds });
  const names = (of: 'groups' | 'excludedGroups', and: 'segments' | 'excludedSegments') =>
    audience.data ? namesOf([...audience.data[of], ...audience.data[and]]) : stateOf(audience);
  const { fromName, fromEmail, replyTo, startedAt, completedAt, ratePerSecond } = campaign;
  const { localTime, timeZone, timeZoneField } = campaign;
  return (
    <Section title="Setup">
      <Card>
        <DescriptionList
          items={[
            ['Sender', fromName === null ? fromEmail : `${fromName} <${fromEmail ?? ''}>`],
            replyTo !== null && ['Reply-to', replyTo],
            ['Audience', names('groups', 'segments')],
            excludedGroupIds.length + excludedSegmentIds.length > 0 && [
              'Excluded',
              names('excludedGroups', 'excludedSegments'),
            ],
            localTime !== null &&
              timeZoneField !== null && [
                'Local time',
                `${formatAnyLocalTime(localTime)}, in the time zone in ${timeZoneField}, or ${timeZone ?? 'UTC'}`,
              ],
            ['Rate', ratePerSecond === null ? 'As fast as the provider accepts' : `At most ${ratePerSecond} a second`],
            campaign.templateId !== null && ['Content', <SentTemplate key="content" campaign={campaign} />],
            campaign.trackOpens !== null &&
              campaign.trackClicks !== null && ['Tracked', describeTracking(campaign.trackOpens, campaign.trackClicks)],
            startedAt !== null && ['Started', <When key="started" at={startedAt} />],
            completedAt !== null && ['Ended', <When key="ended" at={completedAt} />],
            workflowItem(campaign.workflowUrl),
          ]}
        />
      </Card>
    </Section>
  );
}

function namesOf(rows: SentAudienceQuery['groups']): string {
  const names = rows.flatMap((row) => (row !== null && 'name' in row ? [row.name] : []));
  return names.length === 0 ? 'Deleted groups and segments' : names.join(', ');
}

/** The template and version sent. */
function SentTemplate({ campaign: { templateId, templateVersion } }: { campaign: CampaignRow }) {
  const { id: projectId } = useProject();
  const sent = useApiQuery(SENT_TEMPLATE, { id: templateId ?? '' });
  const template = sent.data?.template;
  if (template === undefined) return stateOf(sent);
  if (templateVersion === null) return template.name;
  return (
    <TextLink
      to="/p/$projectId/templates/$templateId/versions"
      params={{ projectId, templateId: template.id }}
      search={{ version: templateVersion }}
      size="sm"
    >
      {template.name}, version {templateVersion}
    </TextLink>
  );
}
