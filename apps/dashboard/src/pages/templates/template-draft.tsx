import '@mantine/core/styles/List.css';
import { Alert, Button, Group, List, Text } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { When } from '../../components/when.tsx';
import type { TemplateRow } from './template-row.ts';

const PUBLISH = graphql(`
  mutation PublishTemplate($id: ID!, $updatedAt: DateTime!) {
    publishTemplate(id: $id, updatedAt: $updatedAt) {
      id
    }
  }
`);

const DISCARD = graphql(`
  mutation DiscardTemplateDraft($id: ID!, $updatedAt: DateTime!) {
    discardTemplateDraft(id: $id, updatedAt: $updatedAt) {
      id
    }
  }
`);

/** Publishes what the editor shows, unless it was modified since. */
export function usePublish({ id, status }: TemplateRow, getUpdatedAt: () => string, onDone: () => void) {
  const publish = useApiMutation(PUBLISH);
  const run = async () => {
    if ((await publish.run({ id, updatedAt: getUpdatedAt() })) === undefined) return;
    notifySuccess(status === 'published' ? 'The new version is published.' : 'Template published.');
    onDone();
  };
  return { run, running: publish.running, problem: publish.problem };
}

/** Asks before publishing what scheduled campaigns will send. */
export function ConfirmPublish({
  template,
  opened,
  onClose,
  publishing,
}: {
  template: TemplateRow;
  opened: boolean;
  onClose: () => void;
  publishing: ReturnType<typeof usePublish>;
}) {
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title="Publish a template that is scheduled?"
      action="Publish"
      harmless
      running={publishing.running}
      problem={publishing.problem}
      onConfirm={() => void publishing.run()}
    >
      These scheduled campaigns will send the new version:
      <ScheduledCampaigns template={template} />
    </Confirm>
  );
}

export function ScheduledCampaigns({ template: { scheduledCampaigns } }: { template: TemplateRow }) {
  return (
    <List size="sm" mt="xs">
      {scheduledCampaigns.map(({ id, name, scheduledAt }) => (
        <List.Item key={id}>
          {name}, which starts {scheduledAt === null ? 'soon' : <When at={scheduledAt} />}
        </List.Item>
      ))}
    </List>
  );
}

/** Says that the draft of a published template is not sent yet, and discards it on request, unless it was modified since. */
export function DraftNotice({
  template: { id, version, publishedVersion },
  getUpdatedAt,
  readOnly,
}: {
  template: TemplateRow;
  getUpdatedAt: () => string;
  readOnly: boolean;
}) {
  const discard = useApiMutation(DISCARD);
  const [asking, setAsking] = useState(false);
  const confirm = async () => {
    if ((await discard.run({ id, updatedAt: getUpdatedAt() })) === undefined) return;
    setAsking(false);
    notifySuccess('The draft was discarded.');
  };
  return (
    <Alert color="blue" icon={<IconPencil aria-hidden />}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">You are editing a draft. Version {publishedVersion} is sent until you publish it.</Text>
        {!readOnly && (
          <Button size="compact-sm" variant="default" onClick={() => setAsking(true)}>
            Discard draft
          </Button>
        )}
      </Group>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Discard this draft?"
        action="Discard draft"
        running={discard.running}
        problem={discard.problem}
        onConfirm={() => void confirm()}
      >
        The editor goes back to version {publishedVersion}. Version {version} stays in the version history.
      </Confirm>
    </Alert>
  );
}
