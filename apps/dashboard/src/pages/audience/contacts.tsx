import './contacts.css';
import { ActionIcon, Box, Button, Checkbox, Group, Menu, Select, Stack, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconColumns3, IconFileImport, IconPlus, IconSearchOff, IconUsersGroup } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { usePermission, useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ContactsQuery } from '../../generated/graphql.ts';
import { ButtonLink } from '../../components/link.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { type Column, DataTable, NONE } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useShowSearch } from '../../data/show-search.ts';
import { ContactLink, labelOf } from './contact-link.tsx';
import { ContactFilters } from './contact-filters.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { type Selection, totalText } from './selection.ts';
import { BulkProgress } from './bulk-progress.tsx';
import { type ContactSearch, filterOf, isFiltered, SORTS, SOURCES } from './contact-search.ts';
import { ViewsMenu } from './views-menu.tsx';
import { ExportLink } from './export-link.tsx';
import { CreateContact } from './create-contact.tsx';
import { CUSTOM_FIELDS, type CustomField, FieldValue, lacksValue } from './field-values.tsx';
import { Subscription } from './subscription.tsx';

const CONTACTS = graphql(`
  query Contacts(
    $after: String
    $search: String
    $suppressed: Boolean
    $source: ContactSource
    $groupId: ID
    $segmentId: ID
    $where: JSON
    $createdAfter: DateTime
    $createdBefore: DateTime
    $sort: ContactSort
  ) {
    contacts(
      first: 50
      after: $after
      search: $search
      suppressed: $suppressed
      source: $source
      groupId: $groupId
      segmentId: $segmentId
      where: $where
      createdAfter: $createdAfter
      createdBefore: $createdBefore
      sort: $sort
    ) {
      nodes {
        id
        name
        hasName
        email
        source
        suppressionStatus
        customFields
        createdAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** Separate, so that the list does not wait for the count. */
const TOTAL = graphql(`
  query ContactTotal(
    $search: String
    $suppressed: Boolean
    $source: ContactSource
    $groupId: ID
    $segmentId: ID
    $where: JSON
    $createdAfter: DateTime
    $createdBefore: DateTime
  ) {
    contacts(
      first: 1
      search: $search
      suppressed: $suppressed
      source: $source
      groupId: $groupId
      segmentId: $segmentId
      where: $where
      createdAfter: $createdAfter
      createdBefore: $createdBefore
    ) {
      totalCount
    }
  }
`);

type Contact = ContactsQuery['contacts']['nodes'][number];

/** The number of custom field columns shown by default. */
const FIRST_COLUMNS = 3;

/** The contact list. */
export function Contacts() {
  const search = useSearch({ from: '/auth/p/$projectId/contacts' });
  const contacts = useApiQuery(CONTACTS, {
    after: cursorOf(search) ?? null,
    sort: search.sort ?? null,
    ...filterOf(search),
  });
  const total = useApiQuery(TOTAL, filterOf(search)).data?.contacts.totalCount;
  const [selection, select] = useSelection(search);
  const fields = useApiQuery(CUSTOM_FIELDS, {}).data?.customFields.nodes ?? [];
  const [columns, setColumns] = useColumns(fields);
  const [creating, setCreating] = useCreateDialog('write');
  const canWrite = usePermission('write');
  const create = canWrite && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      Add contact
    </Button>
  );
  const { id: projectId } = useProject();
  const actions = (
    <>
      <ExportLink search={search}>{isFiltered(search) ? 'Export these' : 'Export'}</ExportLink>
      {canWrite && (
        <ButtonLink
          to="/p/$projectId/imports/new"
          params={{ projectId }}
          variant="default"
          leftSection={<IconFileImport size={16} aria-hidden />}
        >
          Import
        </ButtonLink>
      )}
      {create}
    </>
  );
  return (
    <Page title="Contacts" about="Everyone this project can email." actions={actions}>
      <Stack gap="sm">
        <BulkProgress />
        <Group gap="xs" align="flex-start">
          <ContactFilters search={search} fields={fields} />
          <SortChoice search={search} />
          <ViewsMenu search={search} />
          <ColumnChoice fields={fields} chosen={columns} onChoose={setColumns} />
        </Group>
        <BulkBar search={search} selection={selection} total={total} onSelect={select} />
        <QueryResult of={contacts} skeleton={<RowsSkeleton rows={12} />}>
          {({ contacts: { nodes, pageInfo } }) =>
            nodes.length === 0 ? (
              <NoContacts filtered={isFiltered(search)} create={create} />
            ) : (
              <Stack>
                <Text size="sm" c="dimmed" role="status" aria-label="Total">
                  {total === undefined ? '\u00a0' : `${totalText(total)} ${total === 1 ? 'contact' : 'contacts'}`}
                </Text>
                <ContactTable
                  contacts={nodes}
                  fields={fields.filter(({ key }) => columns.includes(key))}
                  selection={selection}
                  onSelect={select}
                />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </Stack>
            )
          }
        </QueryResult>
      </Stack>
      <CreateContact opened={creating} onClose={() => setCreating(false)} fields={fields} />
    </Page>
  );
}

function NoContacts({ filtered, create }: { filtered: boolean; create: React.ReactNode }) {
  if (filtered) {
    return (
      <Empty
        title="No matching contacts"
        icon={IconSearchOff}
        action={
          <ButtonLink to="." search={{} as never} variant="default">
            Clear filters
          </ButtonLink>
        }
      >
        No contact matches this search and these filters.
      </Empty>
    );
  }
  return (
    <Empty title="No contacts yet" icon={IconUsersGroup} action={create}>
      Add or import contacts here, or create them through the API. Campaigns are sent to groups and segments of
      contacts.
    </Empty>
  );
}

/** The selected contacts; other filters begin a new selection. */
function useSelection(search: ContactSearch): [Selection, (selection: Selection) => void] {
  const scope = JSON.stringify(filterOf(search));
  const [state, setState] = useState<{ scope: string; selection: Selection }>({ scope, selection: [] });
  return [state.scope === scope ? state.selection : [], (selection) => setState({ scope, selection })];
}

function SortChoice({ search }: { search: ContactSearch }) {
  const show = useShowSearch();
  const choose = (sort: string | null) => {
    const { after: _page, sort: _sort, ...rest } = search;
    show(sort === 'newest' ? rest : { ...rest, sort });
  };
  return (
    <Select
      aria-label="Sort"
      w={150}
      allowDeselect={false}
      data={Object.entries(SORTS).map(([value, label]) => ({ value, label }))}
      value={search.sort ?? 'newest'}
      onChange={choose}
    />
  );
}

function ContactTable({
  contacts,
  fields,
  selection,
  onSelect,
}: {
  contacts: Contact[];
  fields: CustomField[];
  selection: Selection;
  onSelect: (selection: Selection) => void;
}) {
  const all = useId();
  const onPage = contacts.map(({ id }) => id);
  const isSelected = (id: string) => selection === 'all' || selection.includes(id);
  const chosen = onPage.filter(isSelected).length;
  const others = selection === 'all' ? [] : selection.filter((id) => !onPage.includes(id));
  const toggle = (id: string) => {
    const before = selection === 'all' ? onPage : selection;
    onSelect(before.includes(id) ? before.filter((each) => each !== id) : [...before, id]);
  };
  const columns: Column<Contact>[] = [
    {
      title: 'Contact',
      head: (
        <Group gap="sm" wrap="nowrap">
          <Checkbox
            id={all}
            aria-label="Select all on this page"
            checked={chosen === onPage.length}
            indeterminate={chosen > 0 && chosen < onPage.length}
            onChange={() => onSelect(chosen === onPage.length ? others : [...others, ...onPage])}
          />
          <label htmlFor={all} className="phone-only">
            Select all
          </label>
          <Box visibleFrom="sm">Contact</Box>
        </Group>
      ),
      cell: (contact) => (
        <Group gap="sm" wrap="nowrap">
          <Checkbox
            className="above"
            aria-label={`Select ${labelOf(contact)}`}
            checked={isSelected(contact.id)}
            onChange={() => toggle(contact.id)}
          />
          <div>
            <ContactLink contact={contact} />
          </div>
        </Group>
      ),
    },
    {
      title: 'Status',
      width: 130,
      cell: ({ suppressionStatus }) => <Subscription status={suppressionStatus} />,
    },
    ...fields.map((field): Column<Contact> => ({
      title: field.label,
      from: 'md',
      ...(field.type === 'number' ? { align: 'right' as const } : {}),
      cell: ({ customFields }) =>
        lacksValue(field, customFields) ? NONE : <FieldValue of={field} values={customFields} />,
    })),
    { title: 'Source', from: 'md', cell: ({ source }) => SOURCES[source] },
    { title: 'Added', from: 'sm', width: 130, cell: ({ createdAt }) => <When at={createdAt} /> },
  ];
  return <DataTable label="Contacts" rows={contacts} keyOf={({ id }) => id} columns={columns} />;
}

/** The custom field columns this user last chose. */
function useColumns(fields: CustomField[]): [string[], (keys: string[]) => void] {
  const { id } = useProject();
  const [chosen, setChosen] = useLocalStorage<string[] | null>({
    key: `postroom-contact-columns-${id}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  return [chosen ?? fields.slice(0, FIRST_COLUMNS).map(({ key }) => key), setChosen];
}

function ColumnChoice({
  fields,
  chosen,
  onChoose,
}: {
  fields: CustomField[];
  chosen: string[];
  onChoose: (keys: string[]) => void;
}) {
  if (fields.length === 0) return null;
  const toggle = (key: string) =>
    onChoose(chosen.includes(key) ? chosen.filter((each) => each !== key) : [...chosen, key]);
  return (
    <Menu closeOnItemClick={false} width={240}>
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label="Choose columns" title="Choose columns" visibleFrom="md">
          <IconColumns3 size={18} stroke={1.7} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Custom field columns</Menu.Label>
        {fields.map(({ key, label }) => (
          <Menu.CheckboxItem
            key={key}
            className="breakable"
            checked={chosen.includes(key)}
            onChange={() => toggle(key)}
          >
            {label}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
