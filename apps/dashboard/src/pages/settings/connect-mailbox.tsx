import { Checkbox, Group, NumberInput, PasswordInput, Radio, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useEffect, useEffectEvent, useState } from 'react';
import { useApiMutation } from '../../data/api-mutation.ts';
import { refresh } from '../../data/refresh.ts';
import { useUnsavedChanges } from '../../data/unsaved-changes.ts';
import { graphql } from '../../generated/gql.ts';
import type { MailboxProvider, MailboxSignIn } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { CopyField } from '../../components/copy.tsx';
import { FormButtons, FormProblem, useFieldProblems } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { ConsentStep, type PendingAuthorization } from './consent.tsx';
import { ConnectionProblem } from './connection-problem.tsx';
import { MAILBOX_PROVIDERS, numberOrNull, textOrNull } from './mailbox-labels.ts';
import type { Mailbox } from './mailbox-row.ts';

const CONNECT = graphql(`
  mutation ConnectMailbox($input: ConnectMailboxInput!) {
    connectMailbox(input: $input) {
      authorizationUrl
      account {
        id
        email
        status
        statusReason
      }
    }
  }
`);

const RETRACT = graphql(`
  mutation RetractMailbox($id: ID!) {
    mailboxDisconnect(id: $id) {
      deletedId
    }
  }
`);

/** How often a pending authorization is looked up: it is given in another tab. */
const LOOK_EVERY_MS = 3000;

/** The account that the form has added, which may not be connected yet. */
type Added = Pick<Mailbox, 'id' | 'email' | 'status' | 'statusReason'>;

/**
 * Connects a mailbox: immediately with a password, or after OAuth2 authorization. The form keeps its contents until the
 * mailbox is connected.
 */
export function ConnectMailbox({
  opened,
  mailboxes,
  onClose,
}: {
  opened: boolean;
  /** The current accounts. */
  mailboxes: readonly Mailbox[];
  onClose: () => void;
}) {
  const [consenting, setConsenting] = useState<PendingAuthorization>();
  const close = () => {
    setConsenting(undefined);
    onClose();
  };
  const title = consenting === undefined ? 'Connect mailbox' : 'Authorize';
  return (
    <Dialog opened={opened} onClose={close} size="lg" title={title}>
      <ConnectForm consenting={consenting} onConsent={setConsenting} mailboxes={mailboxes} onClose={close} />
    </Dialog>
  );
}

const FIELDS = ['email', 'password', 'clientId', 'clientSecret', 'tenant', 'host', 'port', 'perMinute', 'dailyCap'];

function ConnectForm({
  consenting,
  onConsent,
  mailboxes,
  onClose,
}: {
  consenting: PendingAuthorization | undefined;
  onConsent: (consenting: PendingAuthorization | undefined) => void;
  mailboxes: readonly Mailbox[];
  onClose: () => void;
}) {
  const connect = useApiMutation(CONNECT);
  const retract = useApiMutation(RETRACT);
  const [added, setAdded] = useState<Added>();
  const current = mailboxes.find(({ id }) => id === added?.id) ?? added;
  const isWaiting = consenting !== undefined;
  const settle = useEffectEvent(({ email, status }: Added) => {
    if (status === 'connecting') return;
    onConsent(undefined);
    if (status !== 'connected') return;
    notifySuccess(`${email} connected.`);
    onClose();
  });
  useEffect(() => {
    if (current !== undefined) settle(current);
  }, [current]);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(refresh, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isWaiting]);
  const form = useForm({
    initialValues: {
      provider: 'gmail' as MailboxProvider,
      signIn: 'password' as MailboxSignIn,
      email: '',
      username: '',
      password: '',
      clientId: '',
      clientSecret: '',
      tenant: '',
      host: '',
      port: '' as number | string,
      implicitTls: false,
      perMinute: '' as number | string,
      dailyCap: '' as number | string,
    },
  });
  useUnsavedChanges(form.isDirty() && added === undefined);
  const { ref, showProblem } = useFieldProblems(form, connect.problem);
  const { provider } = form.values;
  // Other providers support only passwords.
  const signIn = provider === 'other' ? 'password' : form.values.signIn;
  const { password, perMinute, dailyCap } = MAILBOX_PROVIDERS[provider];
  const submit = form.onSubmit(async (values) => {
    const isOther = provider === 'other';
    const withPassword = signIn === 'password';
    // An attempt that failed is replaced: its address and provider may have been wrong.
    if (added !== undefined) await retract.run({ id: added.id });
    setAdded(undefined);
    const data = await connect.run({
      input: {
        email: values.email.trim(),
        provider,
        signIn,
        username: isOther ? textOrNull(values.username) : null,
        password: withPassword ? values.password : null,
        clientId: withPassword ? null : values.clientId.trim(),
        clientSecret: withPassword ? null : values.clientSecret.trim(),
        tenant: provider === 'microsoft' && !withPassword ? textOrNull(values.tenant) : null,
        host: isOther ? values.host.trim() : null,
        port: isOther ? numberOrNull(values.port) : null,
        implicitTls: isOther ? values.implicitTls : null,
        perMinute: numberOrNull(values.perMinute),
        dailyCap: numberOrNull(values.dailyCap),
      },
    });
    if (data === undefined) return;
    const { account, authorizationUrl } = data.connectMailbox;
    if (authorizationUrl !== null) onConsent({ email: account.email, url: authorizationUrl });
    setAdded(account);
  }, showProblem);
  if (consenting !== undefined)
    return <ConsentStep of={consenting} onBack={() => onConsent(undefined)} onDone={onClose} />;
  return (
    <form ref={ref} onSubmit={submit} noValidate>
      <Stack>
        <FormProblem problem={connect.problem} fields={FIELDS} />
        {current?.status === 'needs_attention' && (
          <ConnectionProblem title={`${current.email} was added, but the connection failed`} of={current} />
        )}
        <Radio.Group label="Provider" {...form.getInputProps('provider')}>
          <Group gap="lg" mt={6}>
            {Object.entries(MAILBOX_PROVIDERS).map(([value, { label }]) => (
              <Radio key={value} value={value} label={label} />
            ))}
          </Group>
        </Radio.Group>
        <TextInput
          label="Address"
          type="email"
          placeholder="ada@example.com"
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('email')}
        />
        {provider !== 'other' && (
          <Radio.Group label="Authentication" {...form.getInputProps('signIn')}>
            <Group gap="lg" mt={6}>
              <Radio value="password" label="Password" />
              <Radio value="oauth2" label="OAuth2" />
            </Group>
          </Radio.Group>
        )}
        {provider === 'other' && (
          <>
            <Group grow align="flex-start">
              <TextInput
                label="Mail server"
                placeholder="smtp.example.com"
                autoComplete="off"
                {...form.getInputProps('host')}
              />
              <NumberInput
                label="Port"
                placeholder="587"
                hideControls
                thousandSeparator=""
                min={1}
                max={65_535}
                {...form.getInputProps('port')}
              />
            </Group>
            <Checkbox
              label="Implicit TLS"
              description="For port 465. Otherwise STARTTLS is used."
              {...form.getInputProps('implicitTls', { type: 'checkbox' })}
            />
            <TextInput
              label="Username"
              description="Defaults to the email address."
              autoComplete="off"
              {...form.getInputProps('username')}
            />
          </>
        )}
        {signIn === 'password' ? (
          <PasswordInput
            label="Password"
            description={password}
            autoComplete="new-password"
            {...form.getInputProps('password')}
          />
        ) : (
          <>
            <CopyField
              label="Redirect URI to register with your OAuth2 client"
              value={`${window.location.origin}/providers/mailbox/callback`}
            />
            <TextInput
              label="Client ID"
              description="The OAuth2 client you registered with the provider."
              autoComplete="off"
              {...form.getInputProps('clientId')}
            />
            <PasswordInput label="Client secret" autoComplete="new-password" {...form.getInputProps('clientSecret')} />
            {provider === 'microsoft' && (
              <TextInput
                label="Tenant"
                description="Only for single-tenant applications."
                autoComplete="off"
                {...form.getInputProps('tenant')}
              />
            )}
          </>
        )}
        <Group grow align="flex-start">
          <NumberInput
            label="Maximum messages per minute"
            placeholder={String(perMinute)}
            min={1}
            hideControls
            {...form.getInputProps('perMinute')}
          />
          <NumberInput
            label="Daily limit"
            placeholder={String(dailyCap)}
            min={1}
            hideControls
            {...form.getInputProps('dailyCap')}
          />
        </Group>
        <FormButtons submit="Connect" running={form.submitting} onCancel={onClose} />
      </Stack>
    </form>
  );
}
