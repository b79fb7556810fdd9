import { Button, Card, Checkbox, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useSession } from '../../app/session.tsx';
import { postAuth } from '../../data/auth.ts';
import { useUnsavedForm } from '../../data/unsaved-changes.ts';
import { refresh } from '../../data/refresh.ts';
import { FormError } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { useSingleRun } from '../../components/use-single-run.ts';
import { passwordProblem } from '../sign-in/password.ts';

const SHOW = { visibilityToggleButtonProps: { 'aria-label': 'Show or hide password' } };

/** The user's password, or how to get one. `hasPassword` is undefined while it is loading. */
export function Password({ hasPassword }: { hasPassword: boolean | undefined }) {
  return <Section title="Password">{hasPassword === false ? <SetPassword /> : <ChangePassword />}</Section>;
}

/** For a user who signs in with the provider. The link in the mail proves who it is, as for a password that was forgotten. */
function SetPassword() {
  const { me } = useSession();
  const [problem, setProblem] = useState<string>();
  const [sent, setSent] = useState(false);
  const [waiting, runOnce] = useSingleRun();
  const send = async () => {
    const answer = await postAuth('/request-password-reset', { email: me.email, redirectTo: '/reset-password' });
    setProblem(answer.problem);
    setSent(answer.data !== undefined);
  };
  return (
    <Card>
      <Stack>
        <FormError>{problem}</FormError>
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm" role="status" className="breakable">
            {sent
              ? `We sent a link to ${me.email}. It expires in one hour.`
              : 'You have no password, because you sign in with a provider. We can email you a link to set one, which signs out all sessions.'}
          </Text>
          <Button variant="default" flex="none" loading={waiting} onClick={() => void runOnce(send)}>
            {sent ? 'Send again' : 'Set a password'}
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

function ChangePassword() {
  const [problem, setProblem] = useState<string>();
  const [waiting, setWaiting] = useState(false);
  const form = useForm({
    initialValues: { currentPassword: '', newPassword: '', revokeOtherSessions: true },
    validate: {
      currentPassword: (value) => (value === '' ? 'Enter your current password' : null),
      newPassword: passwordProblem,
    },
  });
  useUnsavedForm(form);
  const submit = form.onSubmit(async (values) => {
    setWaiting(true);
    const answer = await postAuth('/change-password', values);
    setWaiting(false);
    setProblem(answer.problem);
    if (answer.data === undefined) return;
    form.reset();
    notifySuccess('Password changed.');
    refresh();
  });
  return (
    <Card>
      <form onSubmit={submit} noValidate>
        <Stack>
          <FormError>{problem}</FormError>
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            {...SHOW}
            {...form.getInputProps('currentPassword')}
          />
          <PasswordInput
            label="New password"
            description="At least 10 characters."
            autoComplete="new-password"
            {...SHOW}
            {...form.getInputProps('newPassword')}
          />
          <Checkbox
            label="Sign out of all other sessions"
            {...form.getInputProps('revokeOtherSessions', { type: 'checkbox' })}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={waiting}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}
