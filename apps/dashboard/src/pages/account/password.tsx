import { Button, Card, Checkbox, Group, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { postAuth } from '../../data/auth.ts';
import { useUnsavedForm } from '../../data/unsaved-changes.ts';
import { refresh } from '../../data/refresh.ts';
import { FormError } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { Section } from '../../components/page.tsx';
import { passwordProblem } from '../sign-in/password.ts';

const SHOW = { visibilityToggleButtonProps: { 'aria-label': 'Show or hide password' } };

export function Password() {
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
    <Section title="Password">
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
    </Section>
  );
}
