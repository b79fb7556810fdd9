import { useClient } from 'urql';
import { problemOf } from '../../data/problem.ts';
import { saveJson } from '../../data/save-json.ts';
import { graphql } from '../../generated/gql.ts';
import { notifyError } from '../../components/notify.tsx';

const PERSON_DATA = graphql(`
  query PersonData($contactId: ID!) {
    personData(contactId: $contactId)
  }
`);

/** Downloads a person's data (GDPR export). */
export function useSavePersonData(): (contact: { id: string; email: string }) => Promise<void> {
  const client = useClient();
  return async ({ id, email }) => {
    const result = await client.query(PERSON_DATA, { contactId: id }, { requestPolicy: 'network-only' }).toPromise();
    const problem = problemOf(result);
    if (problem !== undefined) return notifyError(problem.message);
    saveJson(`${email}.json`, result.data?.personData);
  };
}
