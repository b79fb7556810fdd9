import { Group, NumberInput, PasswordInput, Radio, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useDomains } from '../../data/domains.ts';
import { graphql } from '../../generated/gql.ts';
import type { MailProviderInput, MailProviderKind, MailTls } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { changedOf, DialogForm } from '../../components/form.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { numberOrNull } from './mailbox-labels.ts';
import type { Provider } from './provider-row.ts';

const CREATE = graphql(`
  mutation CreateMailProvider($input: MailProviderInput!) {
    createMailProvider(input: $input) {
      id
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateMailProvider($id: ID!, $input: MailProviderInput!) {
    updateMailProvider(id: $id, input: $input) {
      id
    }
  }
`);

/** Creates or edits a mail provider. Secrets are never shown; blank ones are kept. */
export function ProviderDialog({
  opened,
  provider,
  onClose,
}: {
  opened: boolean;
  /** The provider to edit; omitted for a new one. */
  provider?: Provider | undefined;
  onClose: () => void;
}) {
  const title = provider === undefined ? 'Add provider' : 'Edit provider';
  return (
    <Dialog opened={opened} onClose={onClose} size="lg" title={title}>
      <ProviderForm provider={provider} onClose={onClose} />
    </Dialog>
  );
}

const valuesOf = (provider: Provider | undefined) => ({
  kind: provider?.kind ?? ('smtp' as MailProviderKind),
  name: provider?.name ?? '',
  domain: provider?.domain ?? '',
  position: (provider?.position ?? 1) as number | string,
  host: provider?.host ?? '',
  port: (provider?.port ?? '') as number | string,
  tls: provider?.tls ?? ('starttls' as MailTls),
  username: provider?.username ?? '',
  password: '',
  connections: (provider?.connections ?? '') as number | string,
  messagesPerConnection: (provider?.messagesPerConnection ?? '') as number | string,
  ratePerSecond: (provider?.ratePerSecond ?? '') as number | string,
  region: provider?.region ?? '',
  accessKeyId: provider?.accessKeyId ?? '',
  secretAccessKey: '',
  configurationSet: provider?.configurationSet ?? '',
  topicArn: provider?.topicArn ?? '',
  endpoint: provider?.endpoint ?? '',
});

type Values = ReturnType<typeof valuesOf>;

/** Builds the mutation input: a blank secret is unchanged, a blank limit is removed, and a value that is not given stays. */
function inputOf(kind: MailProviderKind, values: Partial<Values>): MailProviderInput {
  const { name, domain } = values;
  const number = (value: number | string | undefined) => (value === undefined ? undefined : numberOrNull(value));
  return {
    name,
    domain,
    position: number(values.position),
    smtp:
      kind === 'smtp'
        ? {
            host: values.host?.trim(),
            port: number(values.port),
            tls: values.tls,
            username: values.username?.trim(),
            password: values.password || undefined,
            connections: number(values.connections),
            messagesPerConnection: number(values.messagesPerConnection),
            ratePerSecond: number(values.ratePerSecond),
          }
        : null,
    ses:
      kind === 'ses'
        ? {
            region: values.region?.trim(),
            accessKeyId: values.accessKeyId?.trim() || undefined,
            secretAccessKey: values.secretAccessKey?.trim() || undefined,
            configurationSet: values.configurationSet?.trim(),
            topicArn: values.topicArn?.trim(),
            endpoint: values.endpoint?.trim(),
          }
        : null,
  };
}

function ProviderForm({ provider, onClose }: { provider: Provider | undefined; onClose: () => void }) {
  const create = useApiMutation(CREATE);
  const update = useApiMutation(UPDATE);
  const isNew = provider === undefined;
  const save = async (values: Values, form: Form) => {
    const data = isNew
      ? await create.run({ input: inputOf(values.kind, values) })
      : await update.run({ id: provider.id, input: inputOf(values.kind, changedOf(values, form)) });
    if (data === undefined) return;
    notifySuccess(`${values.name} is ${isNew ? 'added' : 'changed'}. Test the connection next.`);
    onClose();
  };
  return (
    <DialogForm
      values={valuesOf(provider)}
      mutation={isNew ? create : update}
      save={save}
      submit={isNew ? 'Add' : 'Save'}
      onClose={onClose}
    >
      {(form) => (
        <>
          {isNew && (
            <Radio.Group label="Type" {...form.getInputProps('kind')}>
              <Group gap="lg" mt={6}>
                <Radio value="smtp" label="SMTP relay" />
                <Radio value="ses" label="Amazon SES" />
              </Group>
            </Radio.Group>
          )}
          <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
          {form.values.kind === 'smtp' ? <Relay form={form} isNew={isNew} /> : <Ses form={form} isNew={isNew} />}
          <Group grow align="flex-start">
            <DomainChoice form={form} />
            <NumberInput
              label="Position"
              description="The lowest position is tried first."
              min={1}
              max={100}
              {...form.getInputProps('position')}
            />
          </Group>
        </>
      )}
    </DialogForm>
  );
}

type Form = UseFormReturnType<Values>;

function DomainChoice({ form }: { form: Form }) {
  const domains = useDomains() ?? [];
  // Keeps showing a removed domain until another is chosen.
  const names = new Map(domains.map(({ domain, unicodeName }) => [domain, unicodeName]));
  const { domain: chosen } = form.values;
  if (chosen !== '' && !names.has(chosen)) names.set(chosen, chosen);
  return (
    <Select
      label="Sends email for"
      description="One domain, or all other domains."
      allowDeselect={false}
      data={[{ value: '', label: 'All other domains' }, ...Array.from(names, ([value, label]) => ({ value, label }))]}
      {...form.getInputProps('domain')}
    />
  );
}

const STAYS = 'Leave blank to keep the current one.';

function Relay({ form, isNew }: { form: Form; isNew: boolean }) {
  return (
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
          placeholder={{ implicit: '465', starttls: '587', optional: '25' }[form.values.tls]}
          hideControls
          min={1}
          max={65_535}
          {...form.getInputProps('port')}
        />
      </Group>
      <Select
        label="Encryption"
        allowDeselect={false}
        data={[
          { value: 'starttls', label: 'STARTTLS (required)' },
          { value: 'implicit', label: 'Implicit TLS' },
          { value: 'optional', label: 'STARTTLS when available (no password)' },
        ]}
        {...form.getInputProps('tls')}
      />
      <TextInput
        label="Username"
        description="Leave blank if the relay requires no authentication."
        autoComplete="off"
        {...form.getInputProps('username')}
      />
      <PasswordInput
        label="Password"
        description={isNew ? undefined : STAYS}
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
      <Text size="xs" c="dimmed">
        Leave blank to use the limits the server is known to accept.
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <NumberInput label="Connections" min={1} hideControls {...form.getInputProps('connections')} />
        <NumberInput
          label="Messages per connection"
          min={1}
          hideControls
          {...form.getInputProps('messagesPerConnection')}
        />
        <NumberInput label="Messages per second" min={1} hideControls {...form.getInputProps('ratePerSecond')} />
      </SimpleGrid>
    </>
  );
}

function Ses({ form, isNew }: { form: Form; isNew: boolean }) {
  return (
    <>
      <TextInput label="Region" placeholder="eu-west-1" autoComplete="off" {...form.getInputProps('region')} />
      <TextInput
        label="Access key ID"
        description="The access key of an IAM user allowed to send."
        autoComplete="off"
        {...form.getInputProps('accessKeyId')}
      />
      <PasswordInput
        label="Secret access key"
        description={isNew ? undefined : STAYS}
        autoComplete="new-password"
        {...form.getInputProps('secretAccessKey')}
      />
      <TextInput
        label="Configuration set"
        description="Required for events. Without it, SES does not report bounces."
        autoComplete="off"
        {...form.getInputProps('configurationSet')}
      />
      <TextInput
        label="SNS topic"
        placeholder="arn:aws:sns:eu-west-1:123456789012:postroom"
        autoComplete="off"
        {...form.getInputProps('topicArn')}
      />
      <TextInput
        label="Endpoint"
        description="Only if you reach SES through a custom endpoint, such as AWS PrivateLink."
        placeholder="https://email.eu-west-1.amazonaws.com"
        autoComplete="off"
        {...form.getInputProps('endpoint')}
      />
    </>
  );
}
