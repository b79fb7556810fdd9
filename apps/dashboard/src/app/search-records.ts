import {
  IconAddressBook,
  IconFileText,
  IconFilter,
  IconForms,
  IconMail,
  IconSend,
  IconSitemap,
  IconUsersGroup,
  IconWorldCheck,
} from '@tabler/icons-react';
import { useApiQuery } from '../data/api-query.ts';
import type { Problem } from '../data/problem.ts';
import { graphql } from '../generated/gql.ts';

const SEARCH = graphql(`
  query SearchRecords($text: String!, $address: String, $isAddress: Boolean!) {
    campaigns(first: 5, search: $text) {
      nodes {
        id
        name
        status
      }
    }
    contacts(first: 5, search: $text) {
      nodes {
        id
        email
        name
        hasName
      }
    }
    templates(first: 5, search: $text) {
      nodes {
        id
        name
        status
      }
    }
    emails(first: 5, to: $address) @include(if: $isAddress) {
      nodes {
        id
        to
        subject
      }
    }
    groups(first: 5, search: $text) {
      nodes {
        id
        name
      }
    }
    segments(first: 5, search: $text) {
      nodes {
        id
        name
      }
    }
    forms(first: 5, search: $text) {
      nodes {
        id
        name
      }
    }
    domains(first: 200) {
      nodes {
        id
        domain
        unicodeName
      }
    }
    journeys(first: 5, search: $text) {
      nodes {
        id
        name
        status
      }
    }
  }
`);

/** Shorter texts find no records. */
const MIN_LENGTH = 2;

export interface FoundRecord {
  id: string;
  label: string;
  description: string;
  /** Relative to the project. */
  path: string;
  icon: typeof IconMail;
}

/** Records that match a text of at least two characters, grouped by kind; a whole address also finds emails to it. */
export function useRecords(text: string): {
  groups: { group: string; rows: FoundRecord[] }[];
  /** Whether the server has not answered. */
  isLoading: boolean;
  problem: Problem | undefined;
} {
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(text);
  const { data, problem } = useApiQuery(
    SEARCH,
    { text, isAddress, address: isAddress ? text : null },
    { pause: text.length < MIN_LENGTH },
  );
  if (text.length < MIN_LENGTH) return { groups: [], isLoading: false, problem: undefined };
  if (data === undefined) return { groups: [], isLoading: problem === undefined, problem };
  const groups = [
    {
      group: 'Campaigns',
      rows: data.campaigns.nodes.map(({ id, name, status }) => ({
        id,
        label: name,
        description: `Campaign, ${status}`,
        path: `campaigns/${id}`,
        icon: IconSend,
      })),
    },
    {
      group: 'Contacts',
      rows: data.contacts.nodes.map(({ id, email, name, hasName }) => ({
        id,
        label: email,
        description: hasName ? name : 'Contact',
        path: `contacts/${id}`,
        icon: IconAddressBook,
      })),
    },
    {
      group: 'Templates',
      rows: data.templates.nodes.map(({ id, name, status }) => ({
        id,
        label: name,
        description: `Template, ${status}`,
        path: `templates/${id}`,
        icon: IconFileText,
      })),
    },
    {
      group: 'Emails',
      rows: (data.emails?.nodes ?? []).map(({ id, to, subject }) => ({
        id,
        label: subject ?? 'No subject',
        description: `Email to ${to.join(', ')}`,
        path: `emails/${id}`,
        icon: IconMail,
      })),
    },
    {
      group: 'Journeys',
      rows: data.journeys.nodes.map(({ id, name, status }) => ({
        id,
        label: name,
        description: `Journey, ${status}`,
        path: `journeys/${id}`,
        icon: IconSitemap,
      })),
    },
    ...(
      [
        ['Groups', 'Group', 'groups', IconUsersGroup],
        ['Segments', 'Segment', 'segments', IconFilter],
        ['Forms', 'Form', 'forms', IconForms],
      ] as const
    ).map(([group, description, path, icon]) => ({
      group,
      rows: data[path].nodes.map(({ id, name }) => ({ id, label: name, description, path: `${path}/${id}`, icon })),
    })),
    {
      group: 'Domains',
      rows: data.domains.nodes
        .filter(({ domain, unicodeName }) => [domain, unicodeName].some((name) => name.includes(text.toLowerCase())))
        .map(({ id, domain, unicodeName }) => ({
          id,
          label: unicodeName,
          description: 'Domain',
          path: `domains/${domain}`,
          icon: IconWorldCheck,
        })),
    },
  ];
  return { groups: groups.filter(({ rows }) => rows.length > 0), isLoading: false, problem };
}
