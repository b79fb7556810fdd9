import { useApiQuery } from '../data/api-query.ts';
import { graphql } from '../generated/gql.ts';
import { useSession } from './session.tsx';

const MAY_CREATE_PROJECT = graphql(`
  query MayCreateProject {
    mayCreateProject
  }
`);

/** Whether the user may create a project. Asks only about those who own none. */
export function useMayCreateProject(): boolean {
  const owns = useSession().projects.some(({ role }) => role === 'owner');
  const { data } = useApiQuery(MAY_CREATE_PROJECT, {}, { pause: owns });
  return owns || data?.mayCreateProject === true;
}
