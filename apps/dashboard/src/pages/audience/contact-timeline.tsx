import '@mantine/core/styles/Timeline.css';
import { Stack, Text, ThemeIcon, Timeline } from '@mantine/core';
import { IconBolt, IconClock } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useProject } from '../../app/session.tsx';
import type { ContactQuery, ContactSource } from '../../generated/graphql.ts';
import { EVENT_LABELS } from '../../components/event-labels.ts';
import { TextLink } from '../../components/link.tsx';
import { When } from '../../components/when.tsx';
import { SOURCES } from './contact-search.ts';
import { EventProperties } from '../events/event-properties.tsx';
import { explainReason, type Reason } from './subscription.tsx';
import { mergeTimeline } from './merge-timeline.ts';

type Activity = ContactQuery['contact']['activity'][number];
type CustomEvent = ContactQuery['contact']['events'][number];

/** A contact's activity and custom events, newest first. */
export function ContactTimeline({
  activity,
  events,
}: {
  activity: readonly Activity[];
  events: readonly CustomEvent[];
}) {
  return (
    <Timeline bulletSize={28} lineWidth={2}>
      {mergeTimeline(activity, events).map((event, index) =>
        'occurredAt' in event ? (
          <CustomEventItem key={event.id} event={event} />
        ) : (
          <ActivityItem key={`${event.type} ${event.at} ${index}`} event={event} />
        ),
      )}
    </Timeline>
  );
}

function CustomEventItem({ event: { name, properties, occurredAt } }: { event: CustomEvent }) {
  return (
    <Item label={name} icon={IconBolt} color="grape" at={occurredAt}>
      <EventProperties of={properties} />
    </Item>
  );
}

function ActivityItem({ event }: { event: Activity }) {
  const { type, at, messageId, subject, campaignId, journeyId } = event;
  const { id: projectId } = useProject();
  const [label, Icon, color] = EVENT_LABELS[type] ?? [type, IconClock, 'gray'];
  const word = type === 'contact.suppressed' && event.detail === 'unsubscribed' ? 'Unsubscribed' : label;
  const explained = explain(event);
  return (
    <Item label={word} icon={Icon} color={color} at={at}>
      {messageId !== null && (
        <Text size="sm">
          <TextLink to="/p/$projectId/emails/$emailId" params={{ projectId, emailId: messageId }} size="sm">
            {subject ?? '(no subject)'}
          </TextLink>
          {(campaignId ?? journeyId) !== null && (
            <Text span size="sm" c="dimmed">
              {' in '}
              <SenderLink of={event} />
            </Text>
          )}
        </Text>
      )}
      {explained !== undefined && (
        <Text size="sm" c="dimmed" className="breakable">
          {explained}
        </Text>
      )}
    </Item>
  );
}

/** The campaign or the journey that sent the email of an activity. */
function SenderLink({ of: { campaignId, campaignName, journeyId, journeyName } }: { of: Activity }) {
  const { id: projectId } = useProject();
  if (campaignId !== null)
    return (
      <TextLink to="/p/$projectId/campaigns/$campaignId" params={{ projectId, campaignId }} size="sm">
        {campaignName ?? 'a campaign'}
      </TextLink>
    );
  if (journeyId === null) return null;
  return (
    <TextLink to="/p/$projectId/journeys/$journeyId" params={{ projectId, journeyId }} size="sm">
      {journeyName ?? 'a journey'}
    </TextLink>
  );
}

function Item({
  label,
  icon: Icon,
  color,
  at,
  children,
}: {
  label: string;
  icon: typeof IconClock;
  color: string;
  at: string;
  children: ReactNode;
}) {
  return (
    <Timeline.Item
      bullet={
        <ThemeIcon size={28} radius="xl" variant="light" color={color}>
          <Icon size={15} stroke={1.8} aria-hidden />
        </ThemeIcon>
      }
      title={
        <Text size="sm" fw={550} className="breakable">
          {label}
        </Text>
      }
    >
      <Stack gap={2}>
        {children}
        <Text size="xs" c="dimmed">
          <When at={at} />
        </Text>
      </Stack>
    </Timeline.Item>
  );
}

function explain({ type, detail, origin, actorName }: Activity): string | undefined {
  if (detail === null) return undefined;
  if (type === 'contact.created') return `Source: ${SOURCES[detail as ContactSource] ?? detail}`;
  if (type === 'contact.suppressed') return explainReason(detail as Reason, origin, actorName);
  return detail;
}
