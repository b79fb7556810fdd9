import { useApiQuery } from '../../data/api-query.ts';
import { useSenderDomains } from '../../data/domains.ts';
import { graphql } from '../../generated/gql.ts';
import type { JourneyChoicesQuery } from '../../generated/graphql.ts';
import { useAudiences } from '../audience/audiences.ts';
import { CUSTOM_FIELDS, type CustomField } from '../audience/field-values.tsx';
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
    members {
      user {
        id
        name
      }
    }
  }
`);

/** What a journey may refer to and is listed as a whole, and the names of all that it refers to. */
export interface Choices {
  fields: readonly CustomField[];
  members: JourneyChoicesQuery['members'][number]['user'][];
  /** Domains that may send. */
  domains: readonly string[];
  names: Names;
}

/** The choices; undefined while loading. */
export function useChoices(): Choices | undefined {
  const { data } = useApiQuery(CHOICES, {});
  const fields = useApiQuery(CUSTOM_FIELDS, {}).data?.customFields.nodes;
  const audiences = useAudiences().data;
  const templates = useTemplateChoices().data?.templates.nodes;
  const domains = useSenderDomains();
  if (!data || !fields || !audiences || !templates || !domains) return undefined;
  const nameOf = (rows: readonly { id: string; name: string }[]) => new Map(rows.map(({ id, name }) => [id, name]));
  return {
    fields,
    members: data.members.map(({ user }) => user),
    domains,
    names: {
      templates: nameOf(templates),
      groups: nameOf(audiences.groups.nodes),
      forms: nameOf(data.forms.nodes),
      segments: nameOf(audiences.segments.nodes),
      fields: new Map(fields.map(({ key, label }) => [key, label])),
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
