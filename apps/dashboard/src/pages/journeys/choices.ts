import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyChoicesQuery } from '../../generated/graphql.ts';
import type { Definition, Step } from './definition-types.ts';
import type { Names } from './summaries.ts';

const CHOICES = graphql(`
  query JourneyChoices {
    templates(first: 500) {
      nodes {
        id
        name
        status
      }
    }
    groups(first: 500) {
      nodes {
        id
        name
      }
    }
    forms(first: 200) {
      nodes {
        id
        name
      }
    }
    segments(first: 500) {
      nodes {
        id
        name
      }
    }
    journeys(first: 200) {
      nodes {
        id
        name
      }
    }
    campaigns(first: 200) {
      nodes {
        id
        name
      }
    }
    customFields(first: 200) {
      nodes {
        id
        key
        label
        type
        options
        createdAt
      }
    }
    customEventDefinitions(first: 200) {
      nodes {
        id
        name
      }
    }
    members {
      user {
        id
        name
      }
    }
    domains(first: 200) {
      nodes {
        id
        unicodeName
        verifiedForSending
      }
    }
  }
`);

type Data = JourneyChoicesQuery;

/** What a journey may refer to, and the names of it. */
export interface Choices {
  templates: Data['templates']['nodes'];
  groups: Data['groups']['nodes'];
  forms: Data['forms']['nodes'];
  segments: Data['segments']['nodes'];
  journeys: Data['journeys']['nodes'];
  campaigns: Data['campaigns']['nodes'];
  fields: Data['customFields']['nodes'];
  members: Data['members'][number]['user'][];
  events: string[];
  /** Domains that may send. */
  domains: string[];
  names: Names;
}

/** The choices; undefined while loading. */
export function useChoices(): Choices | undefined {
  const { data } = useApiQuery(CHOICES, {});
  if (data === undefined) return undefined;
  const nameOf = (rows: readonly { id: string; name: string }[]) => new Map(rows.map(({ id, name }) => [id, name]));
  return {
    templates: data.templates.nodes,
    groups: data.groups.nodes,
    forms: data.forms.nodes,
    segments: data.segments.nodes,
    journeys: data.journeys.nodes,
    campaigns: data.campaigns.nodes,
    fields: data.customFields.nodes,
    members: data.members.map(({ user }) => user),
    events: data.customEventDefinitions.nodes.map(({ name }) => name),
    domains: data.domains.nodes
      .filter(({ verifiedForSending }) => verifiedForSending)
      .map(({ unicodeName }) => unicodeName),
    names: {
      templates: nameOf(data.templates.nodes),
      groups: nameOf(data.groups.nodes),
      forms: nameOf(data.forms.nodes),
      segments: nameOf(data.segments.nodes),
      fields: new Map(data.customFields.nodes.map(({ key, label }) => [key, label])),
    },
  };
}

/** The fields of a step: `set` changes members of it. */
export interface FieldsProps {
  step: Step;
  set: (part: Partial<Step>) => void;
  choices: Choices;
  definition: Definition;
  /** Reports whether a filter of contacts is complete. */
  setIncomplete: (isIncomplete: boolean) => void;
}
