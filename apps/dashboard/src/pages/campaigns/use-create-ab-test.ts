import { useProject } from '../../app/session.tsx';
import { useApiMutation } from '../../data/api-mutation.ts';
import { graphql } from '../../generated/gql.ts';
import { useNavigate } from '../../components/use-navigate.ts';

const CREATE = graphql(`
  mutation CreateAbTest($input: CreateAbTestInput!) {
    createAbTest(input: $input) {
      id
    }
  }
`);

/** Makes an A/B test from a draft and opens it. */
export function useCreateAbTest(campaignId: string) {
  const { id: projectId } = useProject();
  const navigate = useNavigate();
  const create = useApiMutation(CREATE);
  const run = async () => {
    const data = await create.run({ input: { campaignId } });
    if (data === undefined) return;
    void navigate({ to: '/p/$projectId/ab-tests/$abTestId', params: { projectId, abTestId: data.createAbTest.id } });
  };
  return { run, running: create.running, problem: create.problem };
}
