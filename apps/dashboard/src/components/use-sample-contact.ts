import { useSessionStorage } from '@mantine/hooks';
import { useProject } from '../app/session.tsx';
import { useApiQuery } from '../data/api-query.ts';
import { graphql } from '../generated/gql.ts';

const SAMPLE = graphql(`
  query SampleContact($id: ID!) {
    contact(id: $id) {
      id
      name
      hasName
      email
      customFields
    }
  }
`);

const POSTAL_ADDRESS = graphql(`
  query PostalAddress {
    projects {
      id
      postalAddress
    }
  }
`);

/** The project's postal address; undefined while loading. */
export function usePostalAddress(): string | null | undefined {
  const { id } = useProject();
  return useApiQuery(POSTAL_ADDRESS, {}).data?.projects.find((project) => project.id === id)?.postalAddress;
}

/** The values of previews until a contact is chosen. */
const SAMPLE_CONTACT = { name: 'Ada Lovelace', hasName: true, email: 'ada@example.com', customFields: {} };

/** The contact chosen in this tab for previews and test emails; undefined if none is, or while it loads. */
export function useChosenContact() {
  const { id: projectId } = useProject();
  const [id, choose] = useSessionStorage<string | null>({
    key: `postroom-sample-contact-${projectId}`,
    defaultValue: null,
  });
  const contact = useApiQuery(SAMPLE, { id: id ?? '' }, { pause: id === null }).data?.contact;
  return { contact, choose };
}

/** The chosen contact's id, and the placeholder values of previews. */
export function useSampleContact(): { contactId: string | null; values: Record<string, unknown> & { email: string } } {
  const { contact } = useChosenContact();
  const address = usePostalAddress()?.replaceAll(/,?\n/g, ', ');
  const { name, hasName, email, customFields } = contact ?? SAMPLE_CONTACT;
  const fields = typeof customFields === 'object' ? customFields : {};
  const values = {
    ...fields,
    name: hasName ? name : null,
    email,
    unsubscribe_url: '#',
    view_in_browser_url: '#',
    ...(address && { postal_address: address }),
  };
  return { contactId: contact?.id ?? null, values };
}
