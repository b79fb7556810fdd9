import { Card, Group, Loader, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { usePermission } from '../../app/session.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { FormProblem } from '../../components/form.tsx';
import { Page, Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { Audience } from './audience.tsx';
import type { CampaignRow } from './campaign-row.ts';
import { CampaignMenu } from './campaign-menu.tsx';
import { STATUS_LABELS } from './campaign-labels.ts';
import { Review } from './review.tsx';
import { Content } from './content.tsx';
import { ScheduledChanges } from './scheduled-changes.tsx';
import { Sender } from './sender.tsx';
import { TrackingChoice } from './tracking-choice.tsx';
import { type Draft, type PartProps, useDraft } from './use-draft.ts';
import { UtmParameters } from './utm.tsx';

/** Draft field labels. */
const FIELD_LABELS: Record<keyof Draft, string> = {
  name: 'campaign name',
  subject: 'subject',
  previewText: 'preview text',
  fromName: 'from name',
  fromEmail: 'from address',
  replyTo: 'reply-to',
  body: 'content',
  templateId: 'content',
  written: 'content',
  groupIds: 'groups',
  segmentIds: 'segments',
  excludedGroupIds: 'excluded groups',
  excludedSegmentIds: 'excluded segments',
  utmSource: 'UTM parameters',
  utmMedium: 'UTM parameters',
  utmCampaign: 'UTM parameters',
  utmTerm: 'UTM parameters',
  utmContent: 'UTM parameters',
  ratePerSecond: 'rate',
  trackOpens: 'open tracking',
  trackClicks: 'click tracking',
};

/** Fields that show their errors themselves. */
const FIELDS = [
  'name',
  'subject',
  'previewText',
  'fromName',
  'fromEmail',
  'replyTo',
  'html',
  'templateId',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'ratePerSecond',
];

/**
 * The campaign editor. Sections can be completed in any order. A draft is saved while it is written; changes to a scheduled
 * campaign are saved after a confirmation.
 */
export function Builder({ campaign, back }: { campaign: CampaignRow; back: ReactNode }) {
  const { draft, set, saving, problem, isSaved, conflict, version, save, changed, discard } = useDraft(campaign);
  const scheduledAt = campaign.status === 'scheduled' ? campaign.scheduledAt : null;
  const [tone, label] = STATUS_LABELS[campaign.status];
  const canWrite = usePermission('write');
  const readOnly = !canWrite || conflict?.seesTheirs === true;
  const part: PartProps = { draft, set, errors: problem?.fields ?? {}, readOnly };
  const failed = problem !== undefined || conflict !== undefined;
  // What keeps it from being saved is shown above the fields, and the buttons that save first are below them.
  const saveOrShowProblem = async () => {
    const done = await save();
    if (!done) window.scrollTo({ top: 0 });
    return done;
  };
  return (
    <Page
      title={campaign.name}
      width={1320}
      back={back}
      mark={<StatusBadge tone={tone}>{label}</StatusBadge>}
      about={
        <Saving
          saving={saving}
          isSaved={isSaved}
          failed={failed}
          waits={scheduledAt !== null}
          at={campaign.updatedAt}
        />
      }
      actions={canWrite && <CampaignMenu campaign={campaign} />}
    >
      <ConflictAlert conflict={conflict} of={campaign} labels={FIELD_LABELS} />
      <FormProblem problem={problem} fields={FIELDS} />
      <Section title="From">
        <Card>
          <Stack>
            <TextInput
              label="Campaign name"
              description="Not visible to recipients."
              value={draft.name}
              error={part.errors.name}
              readOnly={readOnly}
              onChange={(event) => set({ name: event.currentTarget.value })}
            />
            <Sender {...part} />
          </Stack>
        </Card>
      </Section>
      <Audience {...part} campaignId={campaign.id} isShared={campaign.abTestId !== null} />
      <Content {...part} />
      <TrackingChoice {...part} />
      <UtmParameters {...part} />
      <Review campaign={campaign} version={Number(version)} part={part} isSaved={isSaved} save={saveOrShowProblem} />
      {scheduledAt !== null && !isSaved && conflict === undefined && (
        <ScheduledChanges
          changed={changed.map((field) => FIELD_LABELS[field])}
          scheduledAt={scheduledAt}
          saving={saving}
          problem={problem}
          save={save}
          discard={discard}
        />
      )}
    </Page>
  );
}

interface SavingProps {
  saving: boolean;
  isSaved: boolean;
  failed: boolean;
  /** Whether changes wait for a confirmation. */
  waits: boolean;
  at: string;
}

function Saving({ saving, isSaved, failed, waits, at }: SavingProps) {
  if (failed && !isSaved)
    return (
      <Text span c="var(--mantine-color-error)" size="sm">
        Not saved. See the error below.
      </Text>
    );
  if (waits && !isSaved && !saving) return 'Not saved yet.';
  if (saving || !isSaved)
    return (
      <Group component="span" gap={6}>
        <Loader size={12} aria-hidden /> Saving…
      </Group>
    );
  return (
    <>
      Saved <When at={at} />.
    </>
  );
}
