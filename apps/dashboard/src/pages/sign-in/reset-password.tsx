import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { MESSAGES, postAuth } from '../../data/auth.ts';
import { FormError } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { passwordProblem } from './password.ts';

/** Requests a reset link; the link returns here with a token to set a new password. */
export function ResetPassword() {
  const { token, error } = useSearch({ from: '/reset-password' });
  const [refusal, setRefusal] = useState<string | undefined>(error === undefined ? undefined : MESSAGES.INVALID_TOKEN);
  if (token === undefined || refusal !== undefined) return <AskForMail refusal={refusal} />;
  return <ChoosePassword token={token} onInvalid={setRefusal} />;
}

/** Also for a link that can't be used, which `refusal` says. */
function AskForMail({ refusal }: { refusal: string | undefined }) {
  const [sentTo, setSentTo] = useState<string>();
  const [problem, setProblem] = useState(refusal);
  const [waiting, setWaiting] = useState(false);
  const form = useForm({
    initialValues: { email: '' },
    validate: { email: (value) => (value.includes('@') ? null : 'Enter your email address') },
  });
  const submit = form.onSubmit(async ({ email }) => {
    setWaiting(true);
    const answer = await postAuth('/request-password-reset', { email: email.trim(), redirectTo: '/reset-password' });
    setWaiting(false);
    if (answer.data === undefined) return setProblem(answer.problem);
    setSentTo(email.trim());
  });
  return (
    <AuthLayout title={sentTo === undefined ? 'Forgot your password?' : 'Check your email'}>
      {sentTo === undefined ? (
        <form onSubmit={submit} noValidate>
          <Stack>
            <FormError>{problem}</FormError>
            <Text size="sm">We will email you a link to reset your password.</Text>
            <TextInput label="Email" type="email" autoComplete="username" autoFocus {...form.getInputProps('email')} />
            <Button type="submit" loading={waiting}>
              Send reset link
            </Button>
            <TextLink to="/sign-in" size="sm" ta="center">
              Back to sign in
            </TextLink>
          </Stack>
        </form>
      ) : (
        <Stack>
          <Text size="sm" role="status">
            If <b className="breakable">{sentTo}</b> has an account, we sent a link to it. The link expires in one hour.
          </Text>
          <TextLink to="/sign-in" size="sm">
            Back to sign in
          </TextLink>
        </Stack>
      )}
    </AuthLayout>
  );
}

function ChoosePassword({ token, onInvalid }: { token: string; onInvalid: (problem: string) => void }) {
  const [done, setDone] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [waiting, setWaiting] = useState(false);
  const form = useForm({ initialValues: { password: '' }, validate: { password: passwordProblem } });
  const submit = form.onSubmit(async ({ password }) => {
    setWaiting(true);
    const answer = await postAuth('/reset-password', { newPassword: password, token });
    setWaiting(false);
    if (answer.data !== undefined) return setDone(true);
    if (answer.code === 'INVALID_TOKEN') return onInvalid(answer.problem);
    setProblem(answer.problem);
  });
  return (
    <AuthLayout title={done ? 'Password changed' : 'Choose a new password'}>
      {done ? (
        <Stack>
          <Text size="sm" role="status">
            All sessions have been signed out.
          </Text>
          <TextLink to="/sign-in">Sign in</TextLink>
        </Stack>
      ) : (
        <form onSubmit={submit} noValidate>
          <Stack>
            <FormError>{problem}</FormError>
            <PasswordInput
              label="New password"
              description="At least 10 characters."
              autoComplete="new-password"
              autoFocus
              visibilityToggleButtonProps={{ 'aria-label': 'Show or hide password' }}
              {...form.getInputProps('password')}
            />
            <Button type="submit" loading={waiting}>
              Change password
            </Button>
          </Stack>
        </form>
      )}
    </AuthLayout>
  );
}
