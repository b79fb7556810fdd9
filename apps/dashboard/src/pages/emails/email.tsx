import '@mantine/core/styles/Timeline.css';
import '@mantine/core/styles/Tabs.css';
import { Button, Card, Code, Stack, Tabs, Text, ThemeIcon, Timeline } from '@mantine/core';
import { IconClock } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { EmailQuery } from '../../generated/graphql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CodeBlock } from '../../components/copy.tsx';
import { EVENT_LABELS } from '../../components/event-labels.ts';
import { DescriptionList } from '../../components/description-list.tsx';
import { TextLink } from '../../components/link.tsx';
import { EmailPreview } from '../../components/email-preview.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { workflowItem } from '../../components/workflow-link.tsx';
import { EmailState, STATUS_LABELS } from './email-status.tsx';

const EMAIL = graphql(`
  query Email($id: ID!) {
    email(id: $id) {
      id
      status
      from
      to
      cc
      bcc
      replyTo
      subject
      html
      text
      headers
      metadata
      tags
      answer
      campaignId
      contactId
      scheduledAt
      createdAt
      workflowUrl
      attachments {
        filename
        contentType
      }
      recipients {
        email
        status
        answer
      }
      events {
        type
        at
        detail
      }
    }
  }
`);

const CANCEL = graphql(`
  mutation CancelEmail($id: ID!) {
    cancelEmail(id: $id) {
      id
    }
  }
`);

type EmailRow = EmailQuery['email'];

/** One email: status, activity and content. */
export function Email() {
  const { emailId } = useParams({ from: '/auth/p/$projectId/emails/$emailId' });
  const { id: projectId } = useProject();
  const email = useApiQuery(EMAIL, { id: emailId });
  const row = email.data?.email;
  return (
    <Page
      title={row?.subject ?? 'Email'}
      mark={row && <EmailState status={row.status} />}
      about={row && STATUS_LABELS[row.status][2]}
      back={
        row?.campaignId == null ? (
          <TextLink to="/p/$projectId/emails" params={{ projectId }} size="sm">
            <BackLabel>Emails</BackLabel>
          </TextLink>
        ) : (
          <TextLink
            to="/p/$projectId/campaigns/$campaignId/recipients"
            params={{ projectId, campaignId: row.campaignId }}
            size="sm"
          >
            <BackLabel>Campaign recipients</BackLabel>
          </TextLink>
        )
      }
      actions={row && (row.status === 'queued' || row.status === 'scheduled') && <Cancel email={row} />}
    >
      <QueryResult of={email}>{({ email: known }) => <EmailParts email={known} />}</QueryResult>
    </Page>
  );
}

function EmailParts({ email }: { email: EmailRow }) {
  const { id: projectId } = useProject();
  const { recipients, metadata, headers } = email;
  return (
    <>
      <Card>
        <DescriptionList
          items={[
            email.from !== null && ['From', email.from],
            ['To', email.to.join(', ')],
            email.cc.length > 0 && ['Cc', email.cc.join(', ')],
            email.bcc.length > 0 && ['Bcc', email.bcc.join(', ')],
            email.replyTo.length > 0 && ['Reply-to', email.replyTo.join(', ')],
            email.scheduledAt !== null && ['Scheduled', <When key="at" at={email.scheduledAt} />],
            ['Queued', <When key="at" at={email.createdAt} />],
            email.tags.length > 0 && ['Tags', email.tags.join(', ')],
            email.attachments.length > 0 && [
              'Attachments',
              email.attachments.map(({ filename }) => filename).join(', '),
            ],
            email.contactId !== null && [
              'Contact',
              <TextLink
                key="contact"
                to="/p/$projectId/contacts/$contactId"
                params={{ projectId, contactId: email.contactId }}
                size="sm"
              >
                View contact
              </TextLink>,
            ],
            ['Message ID', <Code key="id">{email.id}</Code>],
            workflowItem(email.workflowUrl),
          ]}
        />
      </Card>
      <Section title="Activity">
        <Card>
          <EmailTimeline events={email.events} />
        </Card>
      </Section>
      {recipients.length > 1 && (
        <Section title="Recipients">
          <DataTable
            label="Recipients"
            rows={recipients}
            keyOf={({ email: address }) => address}
            columns={[
              { title: 'Address', cell: ({ email: address }) => address },
              { title: 'Status', cell: ({ status }) => <EmailState status={status} /> },
              { title: 'Response', from: 'sm', cell: ({ answer }) => answer ?? '–' },
            ]}
          />
        </Section>
      )}
      <Content email={email} />
      {(hasMembers(metadata) || hasMembers(headers)) && (
        <Section title="Metadata and headers" about="Metadata is echoed in events.">
          <CodeBlock text={JSON.stringify({ metadata, headers }, null, 2)} label="Metadata and headers" />
        </Section>
      )}
    </>
  );
}

const hasMembers = (value: unknown) => Object.keys(value as object).length > 0;

function EmailTimeline({ events }: { events: EmailRow['events'] }) {
  return (
    <Timeline bulletSize={28} lineWidth={2} active={events.length}>
      {events.map(({ type, at, detail }) => {
        const [label, Icon, color] = EVENT_LABELS[type] ?? [type, IconClock, 'gray'];
        return (
          <Timeline.Item
            key={`${type} ${at}`}
            bullet={
              <ThemeIcon size={28} radius="xl" variant="light" color={color}>
                <Icon size={15} stroke={1.8} aria-hidden />
              </ThemeIcon>
            }
            title={
              <Text size="sm" fw={550}>
                {label}
              </Text>
            }
          >
            <Stack gap={2}>
              {detail !== null && (
                <Text size="sm" c="dimmed" className="mono breakable">
                  {detail}
                </Text>
              )}
              <Text size="xs" c="dimmed">
                <When at={at} />
              </Text>
            </Stack>
          </Timeline.Item>
        );
      })}
    </Timeline>
  );
}

function Content({ email: { html, text, campaignId } }: { email: EmailRow }) {
  if (html === null && text === null)
    return campaignId === null ? null : (
      <Text size="sm" c="dimmed">
        The content is shown with its campaign.
      </Text>
    );
  return (
    <Section title="Content">
      <Tabs defaultValue={html === null ? 'text' : 'shown'} keepMounted={false}>
        <Tabs.List mb="sm">
          {html !== null && <Tabs.Tab value="shown">Preview</Tabs.Tab>}
          {html !== null && <Tabs.Tab value="html">HTML</Tabs.Tab>}
          {text !== null && <Tabs.Tab value="text">Text</Tabs.Tab>}
        </Tabs.List>
        {html !== null && (
          <Tabs.Panel value="shown">
            <EmailPreview html={html} title="Email preview" />
          </Tabs.Panel>
        )}
        {html !== null && (
          <Tabs.Panel value="html">
            <CodeBlock text={html} label="Email HTML" />
          </Tabs.Panel>
        )}
        {text !== null && (
          <Tabs.Panel value="text">
            <CodeBlock text={text} label="Email text" />
          </Tabs.Panel>
        )}
      </Tabs>
    </Section>
  );
}

function Cancel({ email: { id, subject } }: { email: EmailRow }) {
  const [asking, setAsking] = useState(false);
  const cancel = useApiMutation(CANCEL);
  const canWrite = usePermission('write');
  if (!canWrite) return null;
  const confirm = async () => {
    if ((await cancel.run({ id })) === undefined) return;
    notifySuccess('Email canceled.');
    setAsking(false);
  };
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        Cancel
      </Button>
      <Confirm
        opened={asking}
        onClose={() => setAsking(false)}
        title="Cancel this email?"
        action="Cancel email"
        running={cancel.running}
        problem={cancel.problem}
        onConfirm={() => void confirm()}
      >
        {subject ?? 'It'} will not be sent.
      </Confirm>
    </>
  );
}
