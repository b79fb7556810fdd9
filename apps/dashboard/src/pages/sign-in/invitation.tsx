import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Provider } from 'urql';
import { postAuth } from '../../data/auth.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { clientFor } from '../../data/client.ts';
import { type Problem, problemOf } from '../../data/problem.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem, required, useFieldProblems } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { QueryResult } from '../../components/states.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { passwordProblem } from './password.ts';

const ACCEPT = graphql(`
  mutation AcceptInvitation($input: AcceptInvitationInput!) {
    invitationAccept(input: $input) {
      project {
        id
      }
    }
  }
`);

const PREVIEW = graphql(`
  query InvitationPreview($token: String!) {
    invitationPreview(token: $token) {
      projectName
      email
      hasAccount
    }
  }
`);

/** Accepts an invitation with an existing or a new account. Shows a form only for a link that can be accepted. */
export function Invitation() {
  const { token } = useSearch({ from: '/invitation' });
  const [joined, setJoined] = useState<string>();
  if (token === undefined) {
    return (
      <AuthLayout title="This link is incomplete">
        <Text size="sm">Open the full link from the email, or ask for a new invitation.</Text>
      </AuthLayout>
    );
  }
  if (joined !== undefined) {
    return (
      <AuthLayout title="Invitation accepted">
        <Stack>
          <Text size="sm" role="status">
            You have joined the project. Sign in with your email and password.
          </Text>
          <TextLink to="/sign-in" search={{ to: `/p/${joined}` }}>
            Go to the project
          </TextLink>
        </Stack>
      </AuthLayout>
    );
  }
  return (
    <Provider value={clientFor('')}>
      <Valid token={token} onJoined={setJoined} />
    </Provider>
  );
}

function Valid({ token, onJoined }: { token: string; onJoined: (projectId: string) => void }) {
  const { data, problem, again } = useApiQuery(PREVIEW, { token });
  if (data === undefined && problem?.code === 'not_found') {
    return (
      <AuthLayout title="This invitation can't be used">
        <Stack>
          <Text size="sm">{problem.message}</Text>
          <TextLink to="/sign-in">Go to sign-in</TextLink>
        </Stack>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="You are invited">
      <QueryResult of={{ data, problem, again, at: undefined }}>
        {({ invitationPreview: { projectName, email, hasAccount } }) => (
          <Stack>
            <Text size="sm">
              Join the project <b>{projectName}</b> as {email}.
            </Text>
            {hasAccount ? (
              <AcceptAsUser token={token} />
            ) : (
              <AcceptAsNew token={token} email={email} onJoined={onJoined} />
            )}
          </Stack>
        )}
      </QueryResult>
    </AuthLayout>
  );
}

/** For an address with an account: joins if its user is signed in, and leads to the sign-in page otherwise. */
function AcceptAsUser({ token }: { token: string }) {
  const [problem, setProblem] = useState<Problem>();
  const [waiting, setWaiting] = useState(false);
  const accept = async () => {
    setWaiting(true);
    const result = await clientFor('').mutation(ACCEPT, { input: { token } }).toPromise();
    // The invitation can't be used again, so nothing leads back to it.
    if (result.data != null) return window.location.replace(`/p/${result.data.invitationAccept.project.id}`);
    setWaiting(false);
    setProblem(problemOf(result));
  };
  return (
    <Stack>
      <FormProblem problem={problem} />
      <Button size="md" loading={waiting} onClick={() => void accept()}>
        Join with my account
      </Button>
      <Text size="sm" c="dimmed">
        You need to be signed in.{' '}
        <TextLink to="/sign-in" search={{ to: `/invitation?token=${encodeURIComponent(token)}` }} underline="always">
          Sign in
        </TextLink>
      </Text>
    </Stack>
  );
}

interface AcceptAsNewProps {
  token: string;
  email: string;
  onJoined: (projectId: string) => void;
}

/** For an address without an account: creates one, and signs in with the password just chosen. `onJoined` is called if that fails. */
function AcceptAsNew({ token, email, onJoined }: AcceptAsNewProps) {
  const [problem, setProblem] = useState<Problem>();
  const [waiting, setWaiting] = useState(false);
  const form = useForm({
    initialValues: { name: '', password: '' },
    validate: {
      name: required('Enter your name'),
      password: passwordProblem,
    },
  });
  useFieldProblems(form, problem);
  const accept = async (account: { name: string; password: string }) => {
    setWaiting(true);
    const result = await clientFor('')
      .mutation(ACCEPT, { input: { token, ...account } })
      .toPromise();
    if (result.data == null) {
      setWaiting(false);
      return setProblem(problemOf(result));
    }
    const projectId = result.data.invitationAccept.project.id;
    const { data } = await postAuth('/sign-in/email', { email, password: account.password });
    if (data === undefined) return onJoined(projectId);
    // The invitation can't be used again, so nothing leads back to it.
    window.location.replace(`/p/${projectId}`);
  };
  return (
    <form onSubmit={form.onSubmit((values) => accept(values))} noValidate>
      <Stack>
        <FormProblem problem={problem} fields={['name', 'password']} />
        <TextInput label="Your name" autoComplete="name" autoFocus {...form.getInputProps('name')} />
        <PasswordInput
          label="Password"
          description="At least 10 characters."
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide password' }}
          {...form.getInputProps('password')}
        />
        <Button type="submit" size="md" loading={waiting}>
          Join project
        </Button>
      </Stack>
    </form>
  );
}
