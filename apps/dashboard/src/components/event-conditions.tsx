import {
  ActionIcon,
  Autocomplete,
  type AutocompleteProps,
  Button,
  Group,
  Select,
  Stack,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useApiQuery } from '../data/api-query.ts';
import { graphql } from '../generated/gql.ts';
import { numberIn, PROPERTY_OPERATORS, type PropertyCondition } from './property-operators.ts';

/** A project has at most 500. */
const EVENT_IDS = graphql(`
  query EventIds {
    customEventDefinitions(first: 500) {
      nodes {
        id
        name
      }
    }
  }
`);

const EVENT_PROPERTIES = graphql(`
  query EventProperties($id: ID!) {
    customEventDefinition(id: $id) {
      id
      properties {
        name
      }
    }
  }
`);

const useEvents = (pause = false) => useApiQuery(EVENT_IDS, {}, { pause }).data?.customEventDefinitions.nodes ?? [];

/** The name of a custom event; names that have not been seen yet may be typed. */
export function EventInput(props: Pick<AutocompleteProps, 'label' | 'aria-label' | 'w' | 'value' | 'onChange'>) {
  const events = useEvents();
  return <Autocomplete size="sm" placeholder="order placed" data={events.map(({ name }) => name)} {...props} />;
}

/** Text as the value that it most likely is: a number, true, false or itself, such as `007`, or `1.0` on the way to `1.05`. */
function valueOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text;
}

/** The properties that events of this name have had; none until they are loaded. */
function usePropertyNames(event: string | undefined, isNeeded: boolean): string[] {
  const pause = !isNeeded || event === undefined || event === '';
  const id = useEvents(pause).find(({ name }) => name === event)?.id;
  const { data } = useApiQuery(EVENT_PROPERTIES, { id: id ?? '' }, { pause: pause || id === undefined });
  return data?.customEventDefinition.properties.map(({ name }) => name) ?? [];
}

/** Conditions on the properties of an event; all must hold. Properties that have not been seen yet may be typed. */
export function PropertyConditions({
  event,
  where,
  onChange,
}: {
  /** The name of the event, where it is known. */
  event?: string | undefined;
  where: readonly PropertyCondition[];
  onChange: (where: PropertyCondition[]) => void;
}) {
  const properties = usePropertyNames(event, where.length > 0);
  const set = (at: number, condition: PropertyCondition | undefined) =>
    onChange(where.flatMap((each, index) => (index !== at ? [each] : condition === undefined ? [] : [condition])));
  return (
    <Stack gap="xs" role="group" aria-label="Conditions on the event">
      {where.map((condition, index) => {
        const takes = PROPERTY_OPERATORS[condition.op]?.takes ?? 'any';
        return (
          <Group key={index} gap="xs" align="flex-end" role="group" aria-label={`Condition ${index + 1} on the event`}>
            <Group gap="xs" flex="1 1 8rem" align="flex-end">
              <Autocomplete
                size="sm"
                label={index === 0 ? 'Property' : undefined}
                aria-label="Property"
                placeholder="plan"
                flex="1 1 110px"
                data={properties}
                value={condition.property}
                onChange={(property) => set(index, { ...condition, property })}
              />
              <Select
                aria-label="Operator"
                flex="1 1 110px"
                maw={170}
                allowDeselect={false}
                data={Object.entries(PROPERTY_OPERATORS).map(([value, { label }]) => ({ value, label }))}
                value={condition.op}
                onChange={(op) => {
                  const { property, value } = condition;
                  const next = PROPERTY_OPERATORS[op ?? '']?.takes;
                  set(index, { property, op: op ?? 'is', ...(next === 'nothing' ? {} : { value: value ?? '' }) });
                }}
              />
              {takes !== 'nothing' && (
                <TextInput
                  aria-label="Value"
                  flex="1 1 110px"
                  value={String(condition.value ?? '')}
                  onChange={({ currentTarget: { value: text } }) => {
                    set(index, { ...condition, value: takes === 'text' ? text : valueOf(text) });
                  }}
                  onBlur={() => {
                    const value = numberIn(condition.value);
                    if (takes === 'number' && value !== condition.value) set(index, { ...condition, value });
                  }}
                />
              )}
            </Group>
            <ActionIcon size="lg" aria-label="Remove condition" onClick={() => set(index, undefined)}>
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        );
      })}
      <Group>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...where, { property: '', op: 'is', value: '' }])}
        >
          Add condition on the event
        </Button>
      </Group>
    </Stack>
  );
}
