import { Button, Stack, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Provider } from 'urql';
import { useSession } from '../../app/session.tsx';
import { signOut } from '../../app/sign-out.ts';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { clientFor } from '../../data/client.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { QueryResult } from '../../components/states.tsx';
import { AuthLayout } from '../sign-in/auth-layout.tsx';

const PENDING = graphql(`
  query MyEmailChange {
    myEmailChange {
      email
    }
  }
`);

const CONFIRM = graphql(`
  mutation ConfirmEmailChange($token: String!) {
    emailChangeConfirm(token: $token) {
      user {
        id
        email
      }
    }
  }
`);

/** Where the link that confirms a new address leads. A button changes it, because programs that scan mail open links too. */
export function ConfirmEmail() {
  return (
    <Provider value={clientFor('')}>
      <Confirm />
    </Provider>
  );
}

function Confirm() {
  const { token } = useSearch({ from: '/auth/confirm-email' });
  const [changed, setChanged] = useState<string>();
  if (changed !== undefined)
    return (
      <AuthLayout title="Email address changed">
        <Stack>
          <Text size="sm" role="status">
            You now sign in with <b className="breakable">{changed}</b>.
          </Text>
          <TextLink to="/">Go to your project</TextLink>
        </Stack>
      </AuthLayout>
    );
  return (
    <AuthLayout title="Confirm your new address">
      {token === undefined ? (
        <Text size="sm">This link is incomplete. Open the full link from the email.</Text>
      ) : (
        <Pending token={token} onChanged={setChanged} />
      )}
    </AuthLayout>
  );
}

function Pending({ token, onChanged }: { token: string; onChanged: (email: string) => void }) {
  const { me, reload } = useSession();
  const pending = useApiQuery(PENDING, {});
  const confirm = useApiMutation(CONFIRM);
  const run = async () => {
    const done = await confirm.run({ token });
    if (done === undefined) return;
    onChanged(done.emailChangeConfirm.user.email);
    await reload();
  };
  return (
    <QueryResult of={pending}>
      {({ myEmailChange }) =>
        myEmailChange === null ? (
          <NotPending />
        ) : (
          <Stack>
            <FormProblem problem={confirm.problem} />
            <Text size="sm" className="breakable">
              Sign in with <b>{myEmailChange.email}</b> from now on, instead of {me.email}. Your projects, roles and
              sessions stay.
            </Text>
            <Button size="md" loading={confirm.running} onClick={() => void run()}>
              Change my email address
            </Button>
          </Stack>
        )
      }
    </QueryResult>
  );
}

/** The link may have been sent for another account of the same person. */
function NotPending() {
  const { me } = useSession();
  return (
    <Stack>
      <Text size="sm" role="status" className="breakable">
        This link has expired or was already used, or another account asked for it. You are signed in as {me.email}.
      </Text>
      <TextLink to="/">Go to your project</TextLink>
      <Button variant="default" onClick={() => void signOut()}>
        Sign out
      </Button>
    </Stack>
  );
}
