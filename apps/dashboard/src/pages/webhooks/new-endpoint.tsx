import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { Dialog } from '../../components/dialog.tsx';
import { CopyField } from '../../components/copy.tsx';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { EndpointForm, type EndpointValues } from './endpoint-form.tsx';

const CREATE = graphql(`
  mutation CreateEndpoint($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) {
      endpoint {
        id
      }
      secret
    }
  }
`);

interface Created {
  id: string;
  secret: string;
}

/** Registers an endpoint and shows its signing secret. */
export function NewEndpoint() {
  const { id: projectId } = useProject();
  const create = useApiMutation(CREATE);
  const navigate = useNavigate();
  const [created, setCreated] = useState<Created>();
  const submit = async ({ description, ...input }: EndpointValues) => {
    const data = await create.run({ input: { ...input, description: description.trim() || null } });
    if (data === undefined) return;
    const { endpoint, secret } = data.createWebhookEndpoint;
    setCreated({ id: endpoint.id, secret });
  };
  const go = (endpointId: string) =>
    void navigate({
      to: '/p/$projectId/webhooks/$endpointId',
      params: { projectId, endpointId },
      ignoreBlocker: true,
    });
  return (
    <Page
      title="Add endpoint"
      width={760}
      back={
        <TextLink to="/p/$projectId/webhooks" params={{ projectId }} size="sm">
          <BackLabel>Webhooks</BackLabel>
        </TextLink>
      }
    >
      <EndpointForm
        initialValues={{ url: '', description: '', events: ['*'] }}
        submit="Add endpoint"
        running={create.running}
        problem={create.problem}
        onSubmit={submit}
      >
        <ButtonLink to="/p/$projectId/webhooks" params={{ projectId }} variant="default" ignoreBlocker>
          Cancel
        </ButtonLink>
      </EndpointForm>
      <Dialog
        opened={created !== undefined}
        onClose={() => created !== undefined && go(created.id)}
        title="Endpoint created"
      >
        <Stack>
          <Text size="sm">
            Each request is signed with this secret, so that your application can verify where it came from. Admins can
            view it again later.
          </Text>
          <CopyField label="Signing secret" value={created?.secret ?? ''} />
          <Button onClick={() => created !== undefined && go(created.id)} data-autofocus>
            View endpoint
          </Button>
        </Stack>
      </Dialog>
    </Page>
  );
}
