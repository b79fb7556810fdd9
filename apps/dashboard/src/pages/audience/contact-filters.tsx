import { Button, Group, Pill, Popover, Select, Stack } from '@mantine/core';
import { IconFilter } from '@tabler/icons-react';
import { FilterPill, formatTimeRange } from '../../components/filter-pill.tsx';
import { RecordSelect } from '../../components/record-select.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { useRecordNames } from '../../data/records.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { type ContactSearch, SOURCES } from './contact-search.ts';
import { describeCondition, FieldFilter } from './field-filter.tsx';
import type { CustomField } from './field-values.tsx';

const MAILED = { yes: 'Subscribed', no: 'Not mailed' } as const;

/** Contact list filters, all stored in the URL. */
export function ContactFilters({ search, fields }: { search: ContactSearch; fields: readonly CustomField[] }) {
  const show = useShowSearch();
  const names = useRecordNames([search.group, search.segment].filter((id) => id !== undefined));
  const change = (part: ContactSearch) => {
    const { after: _first, ...rest } = search;
    show({ ...rest, ...part });
  };
  const nameOf = (id: string) => names?.get(id) ?? '…';
  const pills: [keyof ContactSearch, string][] = [
    ...(search.mailed === undefined ? [] : [['mailed', MAILED[search.mailed]] as [keyof ContactSearch, string]]),
    ...(search.source === undefined
      ? []
      : [['source', `Source: ${SOURCES[search.source]}`] as [keyof ContactSearch, string]]),
    ...(search.group === undefined
      ? []
      : [['group', `Group: ${nameOf(search.group)}`] as [keyof ContactSearch, string]]),
    ...(search.segment === undefined
      ? []
      : [['segment', `Segment: ${nameOf(search.segment)}`] as [keyof ContactSearch, string]]),
    ...(search.where === undefined
      ? []
      : [['where', describeCondition(search.where, fields)] as [keyof ContactSearch, string]]),
    ...(search.since === undefined
      ? []
      : [['since', `Added ${formatTimeRange(search)}`] as [keyof ContactSearch, string]]),
  ];
  return (
    <Stack gap="xs" flex={1}>
      <Group gap="xs">
        <SearchBox value={search.q ?? ''} label="Search contacts" onSearch={(q) => change({ q: q as never })} />
        <Popover position="bottom-end" width={280} shadow="md" trapFocus>
          <Popover.Target>
            <Button variant="default" leftSection={<IconFilter size={16} aria-hidden />} px="sm">
              Filter
            </Button>
          </Popover.Target>
          <Popover.Dropdown aria-label="Filters">
            <Stack gap="sm">
              <Select
                label="Status"
                placeholder="Any"
                clearable
                data={[
                  { value: 'yes', label: MAILED.yes },
                  { value: 'no', label: MAILED.no },
                ]}
                value={search.mailed ?? null}
                onChange={(mailed) => change({ mailed: mailed as never })}
                comboboxProps={{ withinPortal: false }}
              />
              <RecordSelect
                of="groups"
                label="Group"
                placeholder="Any"
                clearable
                value={search.group}
                onChange={(group) => change({ group: group as never })}
                comboboxProps={{ withinPortal: false }}
              />
              <RecordSelect
                of="segments"
                label="Segment"
                placeholder="Any"
                clearable
                value={search.segment}
                onChange={(segment) => change({ segment: segment as never })}
                comboboxProps={{ withinPortal: false }}
              />
              <FieldFilter
                key={JSON.stringify(search.where)}
                fields={fields}
                value={search.where}
                onApply={(where) => change({ where: where as never })}
              />
              <Select
                label="Source"
                placeholder="Any"
                clearable
                data={Object.entries(SOURCES).map(([value, label]) => ({ value, label }))}
                value={search.source ?? null}
                onChange={(source) => change({ source: source as never })}
                comboboxProps={{ withinPortal: false }}
              />
            </Stack>
          </Popover.Dropdown>
        </Popover>
      </Group>
      {pills.length > 0 && (
        <Pill.Group aria-label="Active filters">
          {pills.map(([key, label]) => (
            <FilterPill
              key={key}
              label={label}
              onRemove={() => change({ [key]: undefined, ...(key === 'since' ? { until: undefined as never } : {}) })}
            />
          ))}
        </Pill.Group>
      )}
    </Stack>
  );
}
