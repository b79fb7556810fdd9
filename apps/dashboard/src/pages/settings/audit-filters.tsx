import { Button, Group, Select, Text, TextInput } from '@mantine/core';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { dayText, isDay } from '../home/period.ts';
import { useShowSearch } from '../../data/show-search.ts';
import type { AuditSearch } from './audit-search.ts';

const FACETS = graphql(`
  query AuditLogFacets {
    auditLogFacets {
      actors {
        actorId
        name
      }
      actions {
        action
        label
      }
      targetKinds
    }
  }
`);

interface Option {
  value: string;
  label: string;
}

/** Filters of the audit log, all stored in the URL. They offer what the log has. */
export function AuditFilters({ search }: { search: AuditSearch }) {
  const show: (search: AuditSearch) => void = useShowSearch();
  const { data } = useApiQuery(FACETS, {});
  const { actors = [], actions = [], targetKinds = [] } = data?.auditLogFacets ?? {};
  const { after: _first, ...chosen } = search;
  const select = (name: 'actor' | 'action' | 'kind', label: string, placeholder: string, data: Option[]) => (
    <Select
      aria-label={label}
      placeholder={placeholder}
      clearable
      searchable
      w={{ base: 'calc(50% - 5px)', sm: 200 }}
      data={withChosen(
        data.toSorted((one, other) => one.label.localeCompare(other.label)),
        search[name],
      )}
      value={search[name] ?? null}
      onChange={(value) => show({ ...chosen, [name]: value ?? undefined })}
    />
  );
  const day = (name: 'from' | 'to', label: string) => (
    <TextInput
      key={`${name} ${search[name]}`}
      type="date"
      aria-label={label}
      flex="1 1 7rem"
      max={dayText(new Date())}
      defaultValue={search[name] ?? ''}
      onBlur={({ currentTarget: { value } }) => {
        const next = isDay(value) ? value : undefined;
        if (next !== search[name]) show({ ...chosen, [name]: next });
      }}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
    />
  );
  return (
    <Group gap="xs" role="group" aria-label="Filters">
      {select('actor', 'Who', 'Anyone', actors.map(actorOption))}
      {select(
        'action',
        'Action',
        'Any action',
        actions.map(({ action, label }) => ({ value: action, label })),
      )}
      {select(
        'kind',
        'Kind of object',
        'Any object',
        targetKinds.map((kind) => ({ value: kind, label: capital(kind) })),
      )}
      <Group gap={6}>
        {day('from', 'First day')}
        <Text size="sm" c="dimmed">
          to
        </Text>
        {day('to', 'Last day')}
      </Group>
      {Object.keys(chosen).length > 0 && (
        <Button variant="subtle" size="sm" onClick={() => show({})}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

function actorOption({ actorId, name }: { actorId: string; name?: string | null }): Option {
  const kind = actorId.startsWith('key_') ? ' (API key)' : '';
  return { value: actorId, label: `${name ?? actorId}${kind}` };
}

/** The options with the chosen one, which a shared URL may name although the log no longer has it. */
const withChosen = (options: Option[], chosen: string | undefined) =>
  chosen === undefined || options.some(({ value }) => value === chosen)
    ? options
    : [...options, { value: chosen, label: chosen }];

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
