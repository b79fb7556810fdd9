import { Card, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useProject } from '../../app/session.tsx';
import { countOf, formatShare } from '../../components/numbers.ts';
import { TextLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { BOUNCE_WARNING, COMPLAINTS_GMAIL, COMPLAINTS_LIMIT } from '../../components/thresholds.ts';
import { percent, reachOf } from '../campaigns/campaign-labels.ts';
import { acknowledgedShare } from '../webhooks/endpoint-state.tsx';
import { type Point, total } from './statistics.ts';
import type { Overview } from './overview.ts';

interface AttentionItem {
  key: string;
  color: 'red' | 'yellow';
  says: string;
  /** A link to resolve it. */
  link?: ReactNode;
}

/** Rates below this volume are not meaningful. */
const LEAST_SENT = 50;

/** Items needing attention; hidden if there are none. */
export function Attention({
  overview,
  points,
  words,
}: {
  overview: Overview;
  points: readonly Point[];
  words: string;
}) {
  const { id: projectId } = useProject();
  const worries = [...worriesOf(overview, projectId), ...ratesOf(points, words)];
  if (worries.length === 0) return null;
  return (
    <Section title="Needs attention">
      <Card p={0}>
        <Stack gap={0}>
          {worries.map(({ key, color, says, link }) => (
            <Group key={key} px="md" py="sm" gap="sm" align="flex-start" className="divided">
              <ThemeIcon variant="light" color={color} size={28} radius="xl">
                <IconAlertTriangle size={16} stroke={1.8} aria-hidden />
              </ThemeIcon>
              <Text size="sm" flex="1 1 8rem" pt={3} className="breakable">
                {says}
              </Text>
              {link}
            </Group>
          ))}
        </Stack>
      </Card>
    </Section>
  );
}

function worriesOf(
  { domains, webhookEndpoints, mailboxAccounts, paused, recent }: Overview,
  projectId: string,
): AttentionItem[] {
  const campaignLink = (campaignId: string) => (
    <TextLink to="/p/$projectId/campaigns/$campaignId" params={{ projectId, campaignId }} size="sm" py={3}>
      View
    </TextLink>
  );
  return [
    ...domains.nodes
      .filter(({ verification }) => verification === 'failing' || verification === 'failed')
      .map(({ id, domain, unicodeName, verifiedForSending }): AttentionItem => ({
        key: id,
        color: verifiedForSending ? 'yellow' : 'red',
        says: verifiedForSending
          ? `${unicodeName}: its DNS records have changed. Fix them within three days.`
          : `${unicodeName} can't send: its DNS records were not found.`,
        link: (
          <TextLink to="/p/$projectId/domains/$domain" params={{ projectId, domain }} size="sm" py={3}>
            View
          </TextLink>
        ),
      })),
    ...webhookEndpoints.nodes
      .filter(({ enabled, health }) => !enabled || health.state === 'degraded' || health.state === 'failing')
      .map(({ id, url, description, enabled, disabledReason, health }): AttentionItem => ({
        key: id,
        color: enabled && health.state === 'degraded' ? 'yellow' : 'red',
        says: enabled
          ? `The webhook ${description ?? url}: ${acknowledgedShare(health)} in the last 24 hours.`
          : `The webhook ${description ?? url} is disabled${disabledReason === null ? '.' : `: ${disabledReason}`}`,
        link: (
          <TextLink to="/p/$projectId/webhooks/$endpointId" params={{ projectId, endpointId: id }} size="sm" py={3}>
            View
          </TextLink>
        ),
      })),
    ...mailboxAccounts
      .filter(({ status }) => status === 'needs_attention')
      .map(({ id, email, statusReason }): AttentionItem => ({
        key: id,
        color: 'red',
        says: `The mailbox ${email} is not sending. ${statusReason?.replaceAll('\n', '. ') ?? ''}`.trim(),
        link: (
          <TextLink to="/p/$projectId/mailboxes" params={{ projectId }} size="sm" py={3}>
            View
          </TextLink>
        ),
      })),
    ...paused.nodes.map(({ id, name, pauseReason }): AttentionItem => ({
      key: id,
      color: pauseReason === null ? 'yellow' : 'red',
      says: pauseReason === null ? `${name} is paused.` : `${name} was paused automatically: ${pauseReason}`,
      link: campaignLink(id),
    })),
    ...recent.nodes
      .filter(({ progress }) => progress.unknown > 0)
      .map(({ id, name, progress }): AttentionItem => ({
        key: `${id} unknown`,
        color: 'yellow',
        says: `${name}: ${countOf(progress.unknown, 'message')} with an unknown outcome.`,
        link: campaignLink(id),
      })),
  ];
}

function ratesOf(points: readonly Point[], words: string): AttentionItem[] {
  const [sent, bounced] = [total(points, 'sent'), total(points, 'bounced')];
  const complained = total(points, 'complained');
  const { count: reached } = reachOf({ sent, delivered: total(points, 'delivered') });
  if (sent < LEAST_SENT) return [];
  const worry = (key: string, part: number, whole: number, most: number, says: string): AttentionItem[] =>
    whole > 0 && part / whole >= most ? [{ key, color: 'red', says }] : [];
  return [
    ...worry(
      'bounces',
      bounced,
      sent,
      BOUNCE_WARNING,
      `${percent(bounced, sent)} of email from ${words} bounced. Stay below ${formatShare(BOUNCE_WARNING)}: check for outdated addresses.`,
    ),
    ...worry(
      'complaints',
      complained,
      reached,
      COMPLAINTS_GMAIL,
      `${percent(complained, reached)} of email from ${words} was marked as spam. Gmail asks for less than ${formatShare(COMPLAINTS_GMAIL, 1)}, and Yahoo for less than ${formatShare(COMPLAINTS_LIMIT, 1)}.`,
    ),
  ];
}
