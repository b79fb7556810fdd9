import { Card, Group, Loader, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay } from '../../app/session.tsx';
import { StatusBadge } from '../../components/badge.tsx';
import { ConflictAlert } from '../../components/conflict-alert.tsx';
import { FormProblem } from '../../components/form.tsx';
import { Page, Section } from '../../components/page.tsx';
import { When } from '../../components/when.tsx';
import { Audience } from './audience.tsx';
import type { CampaignRow } from './campaign.tsx';
import { CampaignMenu } from './campaign-menu.tsx';
import { STATUS_LABELS } from './campaign-labels.ts';
import { Review } from './review.tsx';
import { Content } from './content.tsx';
import { Sender } from './sender.tsx';
import { TrackingChoice } from './tracking-choice.tsx';
import { type Draft, useDraft } from './use-draft.ts';

export interface PartProps {
  draft: Draft;
  set: (part: Partial<Draft>) => void;
  errors: Record<string, string>;
  readOnly: boolean;
}

/** Draft field labels. */
const FIELD_WORDS: Record<keyof Draft, string> = {
  name: 'campaign name',
  subject: 'subject',
  fromName: 'from name',
  fromEmail: 'from address',
  replyTo: 'reply-to',
  body: 'content',
  templateId: 'content',
  written: 'content',
  groupIds: 'groups',
  segmentIds: 'segments',
  ratePerSecond: 'rate',
  trackOpens: 'open tracking',
  trackClicks: 'click tracking',
};

/** The campaign editor. Sections autosave and can be completed in any order. */
export function Builder({ campaign, back }: { campaign: CampaignRow; back: ReactNode }) {
  const { draft, set, saving, problem, isSaved, conflict, save } = useDraft(campaign);
  const [tone, word] = STATUS_LABELS[campaign.status];
  const mayWrite = useMay()('write');
  const readOnly = !mayWrite || conflict?.seesTheirs === true;
  const part: PartProps = { draft, set, errors: problem?.fields ?? {}, readOnly };
  const failed = problem !== undefined || conflict !== undefined;
  return (
    <Page
      title={campaign.name}
      width={1320}
      back={back}
      mark={<StatusBadge tone={tone}>{word}</StatusBadge>}
      about={<Saving saving={saving} isSaved={isSaved} failed={failed} at={campaign.updatedAt} />}
      actions={mayWrite && <CampaignMenu campaign={campaign} />}
    >
      <ConflictAlert conflict={conflict} of={campaign} words={FIELD_WORDS} />
      <FormProblem
        problem={problem}
        fields={['name', 'subject', 'fromName', 'fromEmail', 'replyTo', 'html', 'templateId', 'ratePerSecond']}
      />
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
      <Audience {...part} campaignId={campaign.id} isSaved={isSaved} />
      <Content {...part} />
      <TrackingChoice {...part} />
      <Review campaign={campaign} part={part} isSaved={isSaved} save={save} />
    </Page>
  );
}

function Saving({ saving, isSaved, failed, at }: { saving: boolean; isSaved: boolean; failed: boolean; at: string }) {
  if (failed && !isSaved)
    return (
      <Text span c="var(--mantine-color-error)" size="sm">
        Not saved. See the error below.
      </Text>
    );
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
