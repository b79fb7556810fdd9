import { Button, Text } from '@mantine/core';
import { postAuth } from '../../data/auth.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { refresh } from '../../data/refresh.ts';
import { graphql } from '../../generated/gql.ts';
import type { MySessionsQuery } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { FormProblem } from '../../components/form.tsx';
import { notifyError, notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { useSingleRun } from '../../components/use-single-run.ts';
import { deviceOf } from './device.ts';

const SESSIONS = graphql(`
  query MySessions {
    mySessions {
      id
      ipAddress
      userAgent
      createdAt
      current
    }
  }
`);

const REVOKE = graphql(`
  mutation RevokeSession($id: ID!) {
    sessionRevoke(id: $id) {
      deletedId
    }
  }
`);

type Session = MySessionsQuery['mySessions'][number];

/** The user's active sessions. */
export function Sessions() {
  const sessions = useApiQuery(SESSIONS, {});
  const others = sessions.data?.mySessions.some(({ current }) => !current) ?? false;
  const [running, runOnce] = useSingleRun();
  const signOutOthers = async () => {
    const answer = await postAuth('/revoke-other-sessions');
    if (answer.data === undefined) return notifyError(answer.problem);
    notifySuccess('Signed out of all other sessions.');
    refresh();
  };
  return (
    <Section
      title="Active sessions"
      actions={
        others && (
          <Button variant="default" size="xs" loading={running} onClick={() => void runOnce(signOutOthers)}>
            Sign out all other sessions
          </Button>
        )
      }
    >
      <QueryResult of={sessions} skeleton={<RowsSkeleton rows={2} />}>
        {({ mySessions }) => <SessionTable sessions={mySessions} />}
      </QueryResult>
    </Section>
  );
}

function SessionTable({ sessions }: { sessions: Session[] }) {
  const revoke = useApiMutation(REVOKE);
  return (
    <>
      <FormProblem problem={revoke.problem} />
      <DataTable
        label="Sessions"
        rows={sessions}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Browser', cell: (session) => <Device of={session} /> },
          { title: 'Address', cell: ({ ipAddress }) => ipAddress ?? 'unknown', from: 'sm' },
          { title: 'Since', cell: ({ createdAt }) => <When at={createdAt} />, from: 'sm' },
          {
            title: 'Sign out',
            silent: true,
            align: 'right',
            cell: (session) =>
              session.current ? null : (
                <RowButton color="red" run={() => revoke.run({ id: session.id })}>
                  Sign out<span className="visually-hidden"> {deviceOf(session.userAgent)}</span>
                </RowButton>
              ),
          },
        ]}
      />
    </>
  );
}

function Device({ of: { userAgent, current } }: { of: Session }) {
  return (
    <Text size="sm" fw={550}>
      {deviceOf(userAgent)} {current && <StatusBadge tone="good">This session</StatusBadge>}
    </Text>
  );
}
