import { Anchor, Button, PasswordInput, PinInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { postAuth, providerName } from '../../data/auth.ts';
import { digitProps, FormError } from '../../components/form.tsx';
import { TextLink } from '../../components/link.tsx';
import { AuthLayout } from './auth-layout.tsx';

/** Sign-in with email and password, then the second factor if enabled. */
export function SignIn() {
  const { to = '/' } = useSearch({ from: '/sign-in' });
  const [step, setStep] = useState<'password' | 'code'>('password');
  const [refusal, setRefusal] = useState<string>();
  const restart = (problem?: string) => {
    setRefusal(problem);
    setStep('password');
  };
  const done = () => window.location.assign(to);
  return step === 'password' ? (
    <AuthLayout title="Sign in">
      <PasswordStep refusal={refusal} onDone={done} onCode={() => setStep('code')} />
      <ProviderStep to={to} />
    </AuthLayout>
  ) : (
    <AuthLayout title="Two-factor authentication">
      <CodeStep onDone={done} onRestart={restart} />
    </AuthLayout>
  );
}

interface PasswordStepProps {
  /** Why the second step can't go on. */
  refusal: string | undefined;
  onDone: () => void;
  onCode: () => void;
}

function PasswordStep({ refusal, onDone, onCode }: PasswordStepProps) {
  const [problem, setProblem] = useState(refusal);
  const [waiting, setWaiting] = useState(false);
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: {
      email: (value) => (value.includes('@') ? null : 'Enter your email address'),
      password: (value) => (value === '' ? 'Enter your password' : null),
    },
  });
  const submit = form.onSubmit(async ({ email, password }) => {
    setWaiting(true);
    const answer = await postAuth('/sign-in/email', { email: email.trim(), password });
    if (answer.data?.twoFactorRedirect === true) return onCode();
    if (answer.data !== undefined) return onDone();
    setWaiting(false);
    setProblem(answer.problem);
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <FormError>{problem}</FormError>
        <TextInput label="Email" type="email" autoComplete="username" autoFocus {...form.getInputProps('email')} />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide password' }}
          {...form.getInputProps('password')}
        />
        <Button type="submit" size="md" loading={waiting} fullWidth>
          Sign in
        </Button>
        <TextLink to="/reset-password" size="sm" ta="center">
          Forgot your password?
        </TextLink>
      </Stack>
    </form>
  );
}

/** Messages by error code from the sign-in provider callback. */
const REFUSALS: Record<string, string> = {
  account_not_linked: "The provider has not verified your email address, so you can't sign in with it.",
  signup_disabled: 'No account uses your email address. Ask a project owner for an invitation.',
  email_not_found: "The provider did not send your email address, so you can't sign in with it.",
  access_denied: 'The provider denied access.',
};

function ProviderStep({ to }: { to: string }) {
  const { error } = useSearch({ from: '/sign-in' });
  const [name, setName] = useState<string | null>(null);
  const [problem, setProblem] = useState(
    error === undefined ? undefined : (REFUSALS[error] ?? 'Sign-in with the provider failed. Try again.'),
  );
  const [waiting, setWaiting] = useState(false);
  useEffect(() => void providerName().then(setName), []);
  const go = async () => {
    setWaiting(true);
    const errorCallbackURL = `/sign-in?to=${encodeURIComponent(to)}`;
    const answer = await postAuth('/sign-in/social', { provider: 'oidc', callbackURL: to, errorCallbackURL });
    if (typeof answer.data?.url === 'string') return window.location.assign(answer.data.url);
    setWaiting(false);
    setProblem(answer.problem ?? "Can't reach the provider. Try again.");
  };
  if (name === null) return <FormError>{problem}</FormError>;
  return (
    <Stack mt="md">
      <FormError>{problem}</FormError>
      <Button variant="default" size="md" fullWidth loading={waiting} onClick={() => void go()}>
        Sign in with {name}
      </Button>
    </Stack>
  );
}

/** The server has ended the sign-in: it took too long, or five codes were wrong. */
const ENDED: unknown[] = ['INVALID_TWO_FACTOR_COOKIE', 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE'];

function CodeStep({ onDone, onRestart }: { onDone: () => void; onRestart: (problem?: string) => void }) {
  const [problem, setProblem] = useState<string>();
  const [backup, setBackup] = useState(false);
  const [tries, setTries] = useState(0);
  const [waiting, setWaiting] = useState(false);
  const verify = async (code: string) => {
    setWaiting(true);
    const answer = await postAuth(backup ? '/two-factor/verify-backup-code' : '/two-factor/verify-totp', { code });
    if (answer.data !== undefined) return onDone();
    if (ENDED.includes(answer.code)) return onRestart(answer.problem);
    setWaiting(false);
    setProblem(answer.problem);
    setTries((before) => before + 1);
  };
  const change = () => {
    setProblem(undefined);
    setBackup(!backup);
  };
  return (
    <Stack>
      <FormError>{problem}</FormError>
      {backup ? (
        <BackupCode waiting={waiting} onSubmit={verify} />
      ) : (
        <>
          <Text size="sm">Enter the 6-digit code from your authenticator app.</Text>
          <PinInput
            key={tries}
            length={6}
            type="number"
            oneTimeCode
            autoFocus
            readOnly={waiting}
            getInputProps={digitProps}
            onComplete={(code) => void verify(code)}
          />
        </>
      )}
      <Anchor component="button" type="button" size="sm" onClick={change}>
        {backup ? 'Use authenticator app' : 'Use a backup code'}
      </Anchor>
      <Anchor component="button" type="button" size="sm" onClick={() => onRestart()}>
        Back to sign in
      </Anchor>
    </Stack>
  );
}

function BackupCode({ waiting, onSubmit }: { waiting: boolean; onSubmit: (code: string) => Promise<void> }) {
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // As the server keeps it, however it was written down.
    void onSubmit(code.replace(/[\s-]/g, '').replace(/^.{5}/, '$&-'));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Backup code"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
        />
        <Button type="submit" loading={waiting} disabled={code.trim() === ''}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
