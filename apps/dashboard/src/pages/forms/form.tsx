import { Button, Card, Stack, Text } from '@mantine/core';
import { IconExternalLink, IconPencil } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { usePolling } from '../../data/polling.ts';
import { graphql } from '../../generated/gql.ts';
import type { FormQuery } from '../../generated/graphql.ts';
import { CodeBlock, CopyField } from '../../components/copy.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { MoreMenu } from '../../components/more-menu.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page, Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { Stat, Stats } from '../../components/stats.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { useApiAction } from '../../components/use-api-action.ts';
import { FormState } from './forms.tsx';
import { Submissions } from './submissions.tsx';

const FORM = graphql(`
  query Form($id: ID!) {
    form(id: $id) {
      id
      name
      enabled
      doubleOptIn
      url
      embedHtml
      allowedOrigins
      submissionCounts {
        pending
        blocked
        confirmed
      }
    }
  }
`);

const SWITCH = graphql(`
  mutation SwitchForm($id: ID!, $enabled: Boolean!) {
    updateForm(id: $id, input: { enabled: $enabled }) {
      id
      enabled
      version
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteForm($id: ID!) {
    formDelete(id: $id) {
      deletedId
    }
  }
`);

type FormRow = FormQuery['form'];

/** One form: how to share it, and who submitted it. */
export function FormPage() {
  const { projectId, formId } = useParams({ from: '/auth/p/$projectId/forms/$formId' });
  const read = useApiQuery(FORM, { id: formId });
  const form = read.data?.form;
  usePolling(read.again, form?.enabled === true);
  return (
    <Page
      title={form?.name ?? 'Form'}
      mark={form !== undefined && <FormState enabled={form.enabled} />}
      actions={form !== undefined && <Actions form={form} />}
      back={
        <TextLink to="/p/$projectId/forms" params={{ projectId }} size="sm">
          <BackLabel>Forms</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={read}>{(data) => <Content form={data.form} />}</QueryResult>
    </Page>
  );
}

function Content({ form }: { form: FormRow }) {
  const { url, embedHtml, allowedOrigins, submissionCounts } = form;
  return (
    <>
      <Stats label="Submissions">
        <Stat label="Confirmed" value={submissionCounts.confirmed} />
        <Stat label="Waiting to confirm" value={submissionCounts.pending} />
        {submissionCounts.blocked > 0 && <Stat label="Suppressed addresses" value={submissionCounts.blocked} />}
      </Stats>
      <Section title="Share">
        <Card>
          <Stack>
            <CopyField label="Page" value={url} />
            <Stack gap={4}>
              <Text size="sm" fw={500}>
                HTML for your site
              </Text>
              <CodeBlock text={embedHtml} label="HTML for your site" />
              {allowedOrigins.length === 0 && (
                <Text size="sm" c="dimmed">
                  Add your site to the allowed origins, or its visitors have to press the button once more.
                </Text>
              )}
            </Stack>
          </Stack>
        </Card>
      </Section>
      <Submissions form={form} />
    </>
  );
}

function Actions({ form: { id, name, enabled, url } }: { form: FormRow }) {
  const { id: projectId } = useProject();
  const canWrite = usePermission('write');
  const change = useApiAction(SWITCH);
  const remove = useApiMutation(DELETE);
  const navigate = useNavigate();
  const toggle = async () => {
    if ((await change.run({ id, enabled: !enabled })) === undefined) return;
    notifySuccess(enabled ? 'Form disabled.' : 'Form enabled.');
  };
  const confirmDelete = async () => {
    if ((await remove.run({ id })) === undefined) return;
    notifySuccess('Form deleted.');
    void navigate({ to: '/p/$projectId/forms', params: { projectId }, replace: true });
  };
  return (
    <>
      {enabled && (
        <Button
          component="a"
          href={url}
          target="_blank"
          rel="noreferrer"
          variant="default"
          leftSection={<IconExternalLink size={16} aria-hidden />}
        >
          Open page
        </Button>
      )}
      {canWrite && (
        <>
          <Button variant="default" loading={change.running} onClick={() => void toggle()}>
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <ButtonLink
            to="/p/$projectId/forms/$formId/edit"
            params={{ projectId, formId: id }}
            leftSection={<IconPencil size={16} aria-hidden />}
          >
            Edit
          </ButtonLink>
          <MoreMenu
            name={name}
            remove={{
              title: 'Delete this form?',
              about:
                'Its submissions are deleted too, including the records of consent. Subscribed contacts stay. No contact enters a journey that starts when it confirms this form.',
              run: () => void confirmDelete(),
              running: remove.running,
              problem: remove.problem,
            }}
          />
        </>
      )}
    </>
  );
}
