import { useClient } from 'urql';
import { problemOf } from '../../data/problem.ts';
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
    const { data, error } = await client
      .query(PERSON_DATA, { contactId: id }, { requestPolicy: 'network-only' })
      .toPromise();
    if (error !== undefined) return notifyError(problemOf(error).message);
    save(`${email}.json`, JSON.stringify(data?.personData, null, 2));
  };
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // By then the browser has started reading the blob.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
