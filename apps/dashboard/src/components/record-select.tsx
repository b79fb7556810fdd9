import { type ComboboxItem, MultiSelect, type MultiSelectProps, Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { type NamedRecord, type RecordKind, useFoundRecords, useRecordNames } from '../data/records.ts';

const TYPING_MS = 250;

const HEADINGS: Record<RecordKind, string> = {
  campaigns: 'Campaigns',
  forms: 'Forms',
  groups: 'Groups',
  journeys: 'Journeys',
  segments: 'Segments',
  templates: 'Templates',
};

interface Searched {
  /** The kinds of records to choose from. */
  of: RecordKind | readonly RecordKind[];
  /** Leaves out templates that were never published. */
  published?: boolean;
}

const optionOf = ({ id, name }: NamedRecord): ComboboxItem => ({ value: id, label: name });

/**
 * What a choice of records is made of: the server searches while the user types, and names what is chosen, also if it is not among what
 * was found.
 */
function useRecordSearch({ of, published }: Searched, chosen: readonly string[]) {
  const [isUsed, setUsed] = useState(false);
  const [typed, setTyped] = useState('');
  const [settled] = useDebouncedValue(typed.trim(), TYPING_MS);
  // What was picked here needs no request for its name.
  const [picked, setPicked] = useState<readonly NamedRecord[]>([]);
  const unnamed = chosen.filter((id) => !picked.some((each) => each.id === id));
  const names = useRecordNames(unnamed);
  const chosenRows = names && [
    ...picked.filter(({ id }) => chosen.includes(id)),
    ...unnamed.map((id) => ({ id, name: names.get(id) ?? id })),
  ];
  // A field for one record holds its name, which is not a search.
  const search = chosenRows?.some(({ name }) => name === settled) === true ? '' : settled;
  const kinds = typeof of === 'string' ? [of] : of;
  const { found, hasMore, problem } = useFoundRecords(kinds, search, { pause: !isUsed, published });
  const rows = found?.flatMap((each) => each.rows) ?? [];
  const isKnown = (id: string) => rows.some((row) => row.id === id);
  const message =
    problem !== undefined && found === undefined
      ? `Could not load. ${problem.message}`
      : found === undefined || settled !== typed.trim()
        ? 'Searching…'
        : rows.length === 0
          ? search === ''
            ? 'There is nothing to choose yet'
            : 'Nothing found'
          : hasMore
            ? 'There are more. Keep typing to find them.'
            : undefined;
  const items = (found ?? []).filter((each) => each.rows.length > 0);
  return {
    message,
    /** Whether there is nothing of these kinds. */
    isEmpty: found !== undefined && search === '' && settled === '' && rows.length === 0 && chosen.length === 0,
    isLoaded: chosenRows !== undefined,
    /** Chosen records that were not found: they name the choice, and are no options of a search. */
    others: (chosenRows ?? []).filter(({ id }) => !isKnown(id)),
    isSearch: search !== '',
    options:
      kinds.length === 1
        ? rows.map(optionOf)
        : items.map((each) => ({ group: HEADINGS[each.kind], items: each.rows.map(optionOf) })),
    /** As an option, since a list box may have nothing else. */
    note: message === undefined ? [] : [noteOf(message)],
    rows,
    row: (id: string) => rows.find((each) => each.id === id),
    keep: (ids: readonly string[]) =>
      setPicked((kept) => {
        const news = rows.filter(({ id }) => ids.includes(id) && !kept.some((each) => each.id === id));
        return news.length === 0 ? kept : [...kept, ...news];
      }),
    isUsed,
    begin: () => setUsed(true),
    setTyped,
  };
}

/** The list itself scrolls: a region around it would have to take the focus for those who use the keyboard. */
const LIST = {
  withScrollArea: false,
  styles: { options: { maxHeight: 220, overflowY: 'auto' } },
  classNames: { option: 'record-option' },
} as const;

/** An option that says something. Its value is not the id of a record. */
const noteOf = (label: string): ComboboxItem => ({ value: 'note', label, disabled: true });

/** Tells screen readers what the list says at its end, or in place of options. */
const Announcement = ({ children }: { children: ReactNode }) => (
  <div role="status" className="visually-hidden">
    {children}
  </div>
);

interface RecordSelectProps
  extends Searched, Omit<SelectProps, 'data' | 'filter' | 'onChange' | 'searchable' | 'value'> {
  value: string | null | undefined;
  /** `row` is the record, unless it is one of `also`. */
  onChange: (id: string | null, row: NamedRecord | undefined) => void;
  /** Options besides the records. */
  also?: readonly ComboboxItem[];
  /** In place of the field if there is nothing to choose. */
  none?: ReactNode;
}

/** One record, chosen by name. */
export function RecordSelect({ of, published, value, onChange, also = [], none, ...props }: RecordSelectProps) {
  const id = value === undefined || value === '' ? null : value;
  const isOther = also.some((option) => option.value === id);
  const search = useRecordSearch(
    { of, ...(published === undefined ? {} : { published }) },
    id === null || isOther ? [] : [id],
  );
  if (none !== undefined && search.isEmpty) return none;
  const hidden = search.isSearch ? search.others.map((each) => each.id) : [];
  return (
    <>
      <Select
        {...LIST}
        {...props}
        searchable
        data={[...also, ...search.others.map(optionOf), ...search.options, ...search.note]}
        // The server searches.
        filter={({ options }) => options.filter((each) => 'group' in each || !hidden.includes(each.value))}
        value={search.isLoaded ? id : null}
        placeholder={search.isLoaded ? props.placeholder : 'Loading…'}
        readOnly={props.readOnly === true || !search.isLoaded}
        onFocus={(event) => {
          search.begin();
          props.onFocus?.(event);
        }}
        onSearchChange={(text) => {
          search.setTyped(text);
          props.onSearchChange?.(text);
        }}
        onChange={(next) => {
          search.keep(next === null ? [] : [next]);
          onChange(next, next === null ? undefined : search.row(next));
        }}
      />
      {search.isUsed && <Announcement>{search.message}</Announcement>}
    </>
  );
}

interface RecordsSelectProps extends Searched, Omit<MultiSelectProps, 'data' | 'filter' | 'searchable' | 'value'> {
  value?: string[] | undefined;
}

/** Several records, chosen by name. Until their names are loaded it shows no ids, does not say that nothing is chosen, and can't be changed. */
export function RecordsSelect({ of, published, value = [], placeholder, onChange, ...props }: RecordsSelectProps) {
  const search = useRecordSearch({ of, ...(published === undefined ? {} : { published }) }, value);
  const hint = value.length === 0 ? placeholder : undefined;
  const isAllChosen = search.message === undefined && search.rows.every(({ id }) => value.includes(id));
  return (
    <>
      <MultiSelect
        size="sm"
        {...LIST}
        {...props}
        searchable
        hidePickedOptions
        data={[
          ...search.others.map(optionOf),
          ...search.options,
          ...(isAllChosen ? [noteOf('All are chosen')] : search.note),
        ]}
        filter={({ options }) => options}
        value={search.isLoaded ? value : []}
        placeholder={search.isLoaded ? hint : 'Loading…'}
        readOnly={props.readOnly === true || !search.isLoaded}
        onFocus={(event) => {
          search.begin();
          props.onFocus?.(event);
        }}
        onSearchChange={search.setTyped}
        onChange={(ids) => {
          search.keep(ids);
          onChange?.(ids);
        }}
      />
      {search.isUsed && <Announcement>{search.message}</Announcement>}
    </>
  );
}
