import { Button, Card, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useProject, useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { Confirm } from '../../components/confirm.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { countOf } from '../../components/numbers.ts';
import { Section } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';

const CONTENT = graphql(`
  query ProjectContent {
    contacts(first: 1) {
      totalCount
    }
    campaigns(first: 1) {
      totalCount
    }
  }
`);

const DELETE = graphql(`
  mutation DeleteProject($name: String!) {
    projectDelete(name: $name) {
      deletedId
    }
  }
`);

/** Deletes the project, for its owners. */
export function DeleteProject() {
  const { name } = useProject();
  const { reload } = useSession();
  const [opened, setOpened] = useState(false);
  const remove = useApiMutation(DELETE);
  const close = () => {
    remove.forget();
    setOpened(false);
  };
  const confirm = async () => {
    if ((await remove.run({ name })) === undefined) return;
    notifySuccess(`${name} is being deleted.`);
    // Without the project, the page leads to the list of the others.
    await reload();
  };
  return (
    <Section title="Delete project">
      <Card>
        <Group justify="space-between">
          <Text size="sm">Deletes the project with everything in it, for good. Only owners can.</Text>
          <Button variant="light" color="red" onClick={() => setOpened(true)}>
            Delete project
          </Button>
        </Group>
      </Card>
      <Confirm
        opened={opened}
        onClose={close}
        title="Delete this project?"
        action="Delete"
        confirmationText={name}
        running={remove.running}
        problem={remove.problem}
        onConfirm={() => void confirm()}
      >
        <Consequences />
      </Confirm>
    </Section>
  );
}

/** The API counts no further. */
const MAX_COUNTED = 100_000;

const orMore = (count: number, noun: string) =>
  count < MAX_COUNTED ? countOf(count, noun) : `${count.toLocaleString()} or more ${noun}s`;

function Consequences() {
  const content = useApiQuery(CONTENT, {});
  return (
    <QueryResult of={content}>
      {({ contacts, campaigns }) => (
        <>
          <b>{orMore(contacts.totalCount, 'contact')}</b> and <b>{orMore(campaigns.totalCount, 'campaign')}</b> are
          deleted, with all other data of the project: suppressions, messages, events, domains, members and the audit
          log. Sending stops immediately, API keys stop working, and so do links in mail that was sent, also those to
          unsubscribe. This cannot be undone.
        </>
      )}
    </QueryResult>
  );
}
