import '@mantine/core/styles/List.css';
import { Alert, Button, Card, Group, List, NumberInput, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCalendarTime, IconCheck, IconSend } from '@tabler/icons-react';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { type ApiQuery, useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { CampaignPreflightQuery } from '../../generated/graphql.ts';
import { countOf } from '../../components/numbers.ts';
import { Confirm } from '../../components/confirm.tsx';
import { FormProblem } from '../../components/form.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { useSingleRun } from '../../components/use-single-run.ts';
import { PREFLIGHT } from './audience.tsx';
import type { PartProps } from './use-draft.ts';
import type { CampaignRow } from './campaign-row.ts';
import { describeTracking, duration } from './campaign-labels.ts';
import { finding, inCampaignWords } from './findings.ts';
import { InZones, Schedule } from './schedule.tsx';
import { TestSend } from './test-send.tsx';
import { formatAnyLocalTime } from './zoned.ts';
import { UNSCHEDULE } from './unschedule.ts';
import { useCreateAbTest } from './use-create-ab-test.ts';

const SEND = graphql(`
  mutation SendCampaign($id: ID!, $version: Int!) {
    sendCampaign(id: $id, version: $version) {
      id
    }
  }
`);

type Preflight = CampaignPreflightQuery['campaignPreflight'];

/** The review step: required fields, warnings, test email, then send or schedule. */
export function Review({
  campaign,
  version,
  part,
  isSaved,
  save,
}: {
  campaign: CampaignRow;
  /** Of what the page shows. */
  version: number;
  part: PartProps;
  isSaved: boolean;
  save: () => Promise<boolean>;
}) {
  const { id: projectId } = useProject();
  const preflight = useApiQuery(PREFLIGHT, { id: campaign.id });
  return (
    <Section title="Review and send">
      <Card>
        <Stack>
          <QueryResult of={preflight}>
            {({ campaignPreflight }) => <Findings preflight={shownOf(campaign, campaignPreflight)} />}
          </QueryResult>
          <NumberInput
            size="sm"
            label="Maximum messages per second"
            description="Leave blank to send as fast as the provider accepts. You can change it while the campaign is sending."
            maw={420}
            min={1}
            max={100_000}
            value={part.draft.ratePerSecond ?? ''}
            error={part.errors.ratePerSecond}
            readOnly={part.readOnly}
            onChange={(rate) => part.set({ ratePerSecond: rate === '' ? null : Number(rate) })}
          />
          {campaign.status === 'scheduled' && campaign.scheduledAt !== null && (
            <Alert color="blue" icon={<IconCalendarTime aria-hidden />}>
              {campaign.localTime !== null && campaign.timeZoneField !== null && (
                <>It is sent at each recipient’s local time, {formatAnyLocalTime(campaign.localTime)}. </>
              )}
              It starts on <InZones at={campaign.scheduledAt} />. Recipients are the contacts in its groups and segments
              at that time.
            </Alert>
          )}
          {!part.readOnly && campaign.abTestId === null && (
            <Commands campaign={campaign} version={version} preflight={preflight} isSaved={isSaved} save={save} />
          )}
          {campaign.abTestId !== null && (
            <Group justify="space-between" gap="xs">
              {!part.readOnly && <TestVariant campaignId={campaign.id} save={save} />}
              <ButtonLink to="/p/$projectId/ab-tests/$abTestId" params={{ projectId, abTestId: campaign.abTestId }}>
                Go to the A/B test
              </ButtonLink>
            </Group>
          )}
        </Stack>
      </Card>
    </Section>
  );
}

/** A variant of an A/B test is not sent by itself, which its page says with a link instead, and not to its whole audience. */
function shownOf({ abTestId }: CampaignRow, preflight: Preflight): Preflight {
  if (abTestId === null) return preflight;
  const problems = preflight.problems.filter(({ field }) => field !== 'status');
  return { ...preflight, problems, isReady: problems.length === 0, estimatedSeconds: null };
}

function Findings({
  preflight: { isReady, problems, warnings, variables, messageBytes, estimatedSeconds, tracksOpens, tracksClicks },
}: {
  preflight: Preflight;
}) {
  const { id: projectId } = useProject();
  const withDefault = variables.filter(({ fallback }) => fallback !== null);
  return (
    <Stack gap="sm" aria-live="polite">
      {isReady ? (
        <Alert color="green" icon={<IconCheck aria-hidden />}>
          Ready to send.
          {messageBytes !== null && ` Message size: about ${Math.max(1, Math.round(messageBytes / 1024))} KB.`}
          {` ${describeTracking(tracksOpens, tracksClicks)}`}
          {estimatedSeconds !== null && ` Estimated sending time: about ${duration(estimatedSeconds)}.`}
        </Alert>
      ) : (
        <Alert color="gray" title="Required before sending" icon={<IconAlertTriangle aria-hidden />}>
          <List size="sm">
            {problems.map(({ field, message }) => (
              <List.Item key={field + message}>{finding(field, message)}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert color="yellow" title="Warnings" icon={<IconAlertTriangle aria-hidden />}>
          <List size="sm">
            {warnings.map(({ field, message }) => (
              <List.Item key={field + message}>
                {finding(field, message)}
                {field === 'postalAddress' && (
                  <>
                    .{' '}
                    <TextLink to="/p/$projectId/settings" params={{ projectId }} size="sm" underline="always">
                      Set it in the project’s settings
                    </TextLink>
                  </>
                )}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {withDefault.length > 0 && (
        <Text size="sm" c="dimmed">
          If blank, {withDefault.map(({ name, fallback }) => `{{${name}}} says “${fallback}”`).join(', ')}.
        </Text>
      )}
    </Stack>
  );
}

function Commands({
  campaign,
  version,
  preflight,
  isSaved,
  save,
}: {
  campaign: CampaignRow;
  version: number;
  preflight: ApiQuery<CampaignPreflightQuery>;
  isSaved: boolean;
  save: () => Promise<boolean>;
}) {
  const [asking, setAsking] = useState<'send' | 'schedule' | 'unschedule' | 'test'>();
  const send = useApiMutation(SEND);
  const unschedule = useApiMutation(UNSCHEDULE);
  const abTest = useCreateAbTest(campaign.id);
  const { id, name, status } = campaign;
  const close = () => setAsking(undefined);
  const ready = preflight.data?.campaignPreflight.isReady === true;
  const isScheduled = status === 'scheduled';
  // A confirmation asks about changes to a scheduled campaign first.
  const waits = isScheduled && !isSaved;
  /** Saves pending edits before checking. */
  const ask = async (what: typeof asking) => {
    if (isSaved || (await save())) setAsking(what);
  };
  const [isCreatingTest, runOnce] = useSingleRun();
  const createTest = () =>
    runOnce(async () => {
      if (isSaved || (await save())) await abTest.run();
    });
  const confirmUnschedule = async () => {
    if ((await unschedule.run({ id })) === undefined) return;
    notifySuccess(`${name} is a draft again.`);
    close();
  };
  const confirmSend = async () => {
    // What was ready may have lost a group or its template since.
    if ((await send.run({ id, version })) === undefined) return preflight.again();
    notifySuccess(`Sending ${name} now.`);
    close();
  };
  return (
    <>
      <FormProblem problem={abTest.problem} />
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Button variant="default" disabled={waits} onClick={() => void ask('test')}>
            Send test email
          </Button>
          {status === 'draft' && (
            <Button variant="default" loading={isCreatingTest} onClick={() => void createTest()}>
              Create A/B test
            </Button>
          )}
        </Group>
        <Group gap="xs">
          {isScheduled && (
            <Button variant="default" disabled={waits} onClick={() => void ask('unschedule')}>
              Unschedule
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<IconCalendarTime size={16} aria-hidden />}
            disabled={!ready || waits}
            onClick={() => void ask('schedule')}
          >
            {isScheduled ? 'Reschedule' : 'Schedule'}
          </Button>
          <Button
            leftSection={<IconSend size={16} aria-hidden />}
            disabled={!ready || waits}
            onClick={() => void ask('send')}
          >
            Send now
          </Button>
        </Group>
      </Group>
      <Confirm
        opened={asking === 'send'}
        onClose={close}
        title="Send this campaign now?"
        action="Send"
        harmless
        running={send.running}
        problem={inCampaignWords(send.problem)}
        onConfirm={() => void confirmSend()}
      >
        {name} goes to {countOf(preflight.data?.campaignPreflight.audience.recipients ?? 0, 'person', 'people')}. You
        can pause it, but sent messages cannot be recalled.
        {isScheduled && ' Its scheduled time no longer applies.'}
      </Confirm>
      <Confirm
        opened={asking === 'unschedule'}
        onClose={close}
        title="Unschedule this campaign?"
        action="Unschedule"
        harmless
        running={unschedule.running}
        problem={unschedule.problem}
        onConfirm={() => void confirmUnschedule()}
      >
        {name} becomes a draft and does not start until you send or schedule it again.
      </Confirm>
      <Schedule campaign={campaign} version={version} opened={asking === 'schedule'} onClose={close} />
      <TestSend campaignId={id} opened={asking === 'test'} onClose={close} />
    </>
  );
}

/** A variant is sent by its test, and can be tried before. */
function TestVariant({ campaignId, save }: { campaignId: string; save: () => Promise<boolean> }) {
  const [testing, setTesting] = useState(false);
  const ask = async () => {
    if (await save()) setTesting(true);
  };
  return (
    <>
      <Button variant="default" onClick={() => void ask()}>
        Send test email
      </Button>
      <TestSend campaignId={campaignId} opened={testing} onClose={() => setTesting(false)} />
    </>
  );
}
