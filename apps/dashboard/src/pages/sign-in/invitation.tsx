import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { clientFor } from '../../data/client.ts';
import { type Problem, problemOf } from '../../data/problem.ts';
import { graphql } from '../../generated/gql.ts';
import { FormProblem, useFieldProblems } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
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

/** Accepts an invitation with an existing or a new account. */
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
    <AuthLayout title="You are invited">
      <Accept token={token} onJoined={setJoined} />
    </AuthLayout>
  );
}

function Accept({ token, onJoined }: { token: string; onJoined: (projectId: string) => void }) {
  const [problem, setProblem] = useState<Problem>();
  const [waiting, setWaiting] = useState<'new' | 'own'>();
  const form = useForm({
    initialValues: { name: '', password: '' },
    validate: {
      name: (value) => (value.trim() === '' ? 'Enter your name' : null),
      password: passwordProblem,
    },
  });
  useFieldProblems(form, problem);
  const accept = async (how: 'new' | 'own', account: { name?: string; password?: string }) => {
    setWaiting(how);
    const { data, error } = await clientFor('')
      .mutation(ACCEPT, { input: { token, ...account } })
      .toPromise();
    setWaiting(undefined);
    setProblem(error === undefined ? undefined : problemOf(error));
    if (data == null) return;
    if (how === 'own') return window.location.assign(`/p/${data.invitationAccept.project.id}`);
    onJoined(data.invitationAccept.project.id);
  };
  return (
    <Stack>
      <form onSubmit={form.onSubmit((values) => accept('new', values))} noValidate>
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
          <Button type="submit" size="md" loading={waiting === 'new'}>
            Join project
          </Button>
        </Stack>
      </form>
      <Text size="sm" c="dimmed">
        If you already have an account,{' '}
        <TextLink to="/sign-in" search={{ to: `/invitation?token=${encodeURIComponent(token)}` }} underline="always">
          sign in
        </TextLink>{' '}
        first, then accept the invitation.
      </Text>
      <Button variant="default" loading={waiting === 'own'} onClick={() => void accept('own', {})}>
        Join with my account
      </Button>
    </Stack>
  );
}
