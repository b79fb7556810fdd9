import { useParams } from '@tanstack/react-router';
import { useApiMutation } from '../../data/api-mutation.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { ButtonLink, TextLink } from '../../components/link.tsx';
import { notifySuccess } from '../../components/notify.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { useNavigate } from '../../components/use-navigate.ts';
import { EndpointForm, type EndpointValues } from './endpoint-form.tsx';

const ENDPOINT = graphql(`
  query EndpointToEdit($id: ID!) {
    webhookEndpoint(id: $id) {
      id
      url
      description
      events
    }
  }
`);

const UPDATE = graphql(`
  mutation UpdateEndpoint($id: ID!, $input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(id: $id, input: $input) {
      id
    }
  }
`);

/** Edits an endpoint's URL and events. */
export function EditEndpoint() {
  const { projectId, endpointId } = useParams({ from: '/auth/p/$projectId/webhooks/$endpointId/edit' });
  const endpoint = useApiQuery(ENDPOINT, { id: endpointId });
  const update = useApiMutation(UPDATE);
  const navigate = useNavigate();
  const there = { to: '/p/$projectId/webhooks/$endpointId', params: { projectId, endpointId } } as const;
  const submit = async (_values: EndpointValues, input: Partial<EndpointValues>) => {
    if ((await update.run({ id: endpointId, input })) === undefined) return;
    notifySuccess('Endpoint updated.');
    void navigate(there);
  };
  return (
    <Page
      title="Edit endpoint"
      width={760}
      back={
        <TextLink {...there} size="sm">
          <BackLabel>Endpoint</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={endpoint}>
        {({ webhookEndpoint: { url, description, events } }) => (
          <EndpointForm
            initialValues={{ url, description: description ?? '', events }}
            submit="Save"
            running={update.running}
            problem={update.problem}
            onSubmit={submit}
          >
            <ButtonLink {...there} variant="default" ignoreBlocker>
              Cancel
            </ButtonLink>
          </EndpointForm>
        )}
      </QueryResult>
    </Page>
  );
}
