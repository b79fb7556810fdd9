import { Button, Checkbox, MultiSelect, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { hasPermission } from '../../app/permissions.ts';
import { useProject, useSession } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import type { KeyScope } from '../../generated/graphql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { CodeBlock, CopyField } from '../../components/copy.tsx';
import { DialogForm, required } from '../../components/form.tsx';

const CREATE = graphql(`
  mutation CreateApiKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      apiKey {
        id
      }
      key
    }
  }
`);

/** Creates a key and shows it once; the dialog stays open until the user confirms saving it. */
export function CreateKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [key, setKey] = useState<string>();
  const done = () => {
    setKey(undefined);
    onClose();
  };
  const shown = key !== undefined;
  return (
    <Dialog
      opened={opened}
      onClose={shown ? () => {} : onClose}
      withCloseButton={!shown}
      size="lg"
      title={shown ? 'Save your API key' : 'Create API key'}
    >
      {shown ? <SaveKey secret={key} onDone={done} /> : <KeyForm onCreated={setKey} onClose={onClose} />}
    </Dialog>
  );
}

function KeyForm({ onCreated, onClose }: { onCreated: (key: string) => void; onClose: () => void }) {
  const { projects } = useSession();
  const { id: current } = useProject();
  const create = useApiMutation(CREATE);
  return (
    <DialogForm
      values={{ name: '', scope: 'sending' as KeyScope, allProjects: false, projectIds: [current] }}
      validate={{
        name: required('Enter a name'),
        projectIds: (value, { allProjects }) => (value.length === 0 && !allProjects ? 'Choose a project' : null),
      }}
      mutation={create}
      save={async ({ projectIds, ...input }) => {
        const data = await create.run({ input: { ...input, projectIds: input.allProjects ? null : projectIds } });
        if (data !== undefined) onCreated(data.createApiKey.key);
      }}
      submit="Create API key"
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextInput
            label="Name"
            placeholder="Shop, production"
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Radio.Group label="Scope" {...form.getInputProps('scope')}>
            <Stack gap="xs" mt={6}>
              <Radio
                value="sending"
                label="Sending access"
                description="Transactional email only: POST /v1/emails and SMTP."
              />
              <Radio
                value="full"
                label="Full access"
                description="Email, contacts, groups, campaigns, templates, webhooks."
              />
            </Stack>
          </Radio.Group>
          <MultiSelect
            label="Projects"
            size="sm"
            data={projects
              .filter(({ role }) => hasPermission(role, 'manage'))
              .map(({ id, name }) => ({ value: id, label: name }))}
            disabled={form.values.allProjects}
            {...form.getInputProps('projectIds')}
          />
          <Checkbox
            label="All projects, including future ones"
            description="Requires ownership of every project."
            disabled={!projects.every(({ role }) => hasPermission(role, 'own'))}
            {...form.getInputProps('allProjects', { type: 'checkbox' })}
          />
        </>
      )}
    </DialogForm>
  );
}

const focus = (element: HTMLElement | null) => element?.focus();

function SaveKey({ secret, onDone }: { secret: string; onDone: () => void }) {
  const curl = [
    `curl ${window.location.origin}/v1/emails \\`,
    `  -H 'Authorization: Bearer ${secret}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"from":"hello@your-domain.example","to":"ada@example.com","subject":"Hello","html":"<p>It works.</p>"}'`,
  ].join('\n');
  return (
    <Stack>
      {/* It takes the place of the form that had the focus. */}
      <Text size="sm" tabIndex={-1} ref={focus}>
        Copy it now. Only a hash is stored, so it can't be shown again.
      </Text>
      <CopyField label="Key" value={secret} />
      <CopyField label=".env file" value={`POSTROOM_API_KEY=${secret}`} />
      <Stack gap={4}>
        <Text size="sm" fw={500}>
          Try it
        </Text>
        <CodeBlock text={curl} label="curl command" />
      </Stack>
      <Button onClick={onDone}>I have saved it</Button>
    </Stack>
  );
}
