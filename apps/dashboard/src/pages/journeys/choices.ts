import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { AudiencesQuery, JourneyChoicesQuery, TemplateChoicesQuery } from '../../generated/graphql.ts';
import { useAudiences } from '../audience/audiences.ts';
import { useTemplateChoices } from '../templates/template-choices.ts';
import type { Definition, Step } from './definition-types.ts';
import type { Names } from './summaries.ts';

const CHOICES = graphql(`
  query JourneyChoices {
    forms(first: 200) {
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
    campaigns(first: 1000) {
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
    customEventDefinitions(first: 500) {
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
  templates: TemplateChoicesQuery['templates']['nodes'];
  groups: AudiencesQuery['groups']['nodes'];
  forms: Data['forms']['nodes'];
  segments: AudiencesQuery['segments']['nodes'];
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
  const audiences = useAudiences().data;
  const templates = useTemplateChoices().data?.templates.nodes;
  if (data === undefined || audiences === undefined || templates === undefined) return undefined;
  const [groups, segments] = [audiences.groups.nodes, audiences.segments.nodes];
  const nameOf = (rows: readonly { id: string; name: string }[]) => new Map(rows.map(({ id, name }) => [id, name]));
  return {
    templates,
    groups,
    forms: data.forms.nodes,
    segments,
    journeys: data.journeys.nodes,
    campaigns: data.campaigns.nodes,
    fields: data.customFields.nodes,
    members: data.members.map(({ user }) => user),
    events: data.customEventDefinitions.nodes.map(({ name }) => name),
    domains: data.domains.nodes
      .filter(({ verifiedForSending }) => verifiedForSending)
      .map(({ unicodeName }) => unicodeName),
    names: {
      templates: nameOf(templates),
      groups: nameOf(groups),
      forms: nameOf(data.forms.nodes),
      segments: nameOf(segments),
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
