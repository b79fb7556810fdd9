import { IconForms, IconPlus } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { cursorOf } from '../../data/paging.ts';
import { graphql } from '../../generated/gql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';

const FORMS = graphql(`
  query Forms($after: String) {
    forms(first: 30, after: $after) {
      nodes {
        id
        name
        enabled
        doubleOptIn
        updatedAt
        submissionCounts {
          pending
          confirmed
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** The list of forms. */
export function Forms() {
  const { id: projectId } = useProject();
  const search = useSearch({ from: '/auth/p/$projectId/forms' });
  const forms = useApiQuery(FORMS, { after: cursorOf(search) ?? null });
  const create = usePermission('write') && (
    <ButtonLink to="/p/$projectId/forms/new" params={{ projectId }} leftSection={<IconPlus size={16} aria-hidden />}>
      New form
    </ButtonLink>
  );
  return (
    <Page title="Forms" about="Pages on which people can subscribe, also embedded in your site." actions={create}>
      <QueryResult of={forms} skeleton={<RowsSkeleton rows={3} />}>
        {({ forms: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No forms yet" icon={IconForms} action={create}>
              Let visitors of your site subscribe. They confirm their address before they become contacts.
            </Empty>
          ) : (
            <>
              <DataTable
                label="Forms"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Name',
                    cell: ({ id, name }) => (
                      <RowLink to="/p/$projectId/forms/$formId" params={{ projectId, formId: id }}>
                        {name}
                      </RowLink>
                    ),
                  },
                  { title: 'State', cell: ({ enabled }) => <FormState enabled={enabled} />, width: 120 },
                  {
                    title: 'Confirmed',
                    cell: ({ submissionCounts }) => submissionCounts.confirmed.toLocaleString(),
                    align: 'right',
                    width: 120,
                  },
                  {
                    title: 'Waiting',
                    cell: ({ submissionCounts }) => submissionCounts.pending.toLocaleString(),
                    align: 'right',
                    width: 120,
                  },
                  { title: 'Updated', cell: ({ updatedAt }) => <When at={updatedAt} />, width: 150, from: 'sm' },
                ]}
              />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </>
          )
        }
      </QueryResult>
    </Page>
  );
}

/** Whether a form accepts submissions. */
export const FormState = ({ enabled }: { enabled: boolean }) => (
  <StatusBadge tone={enabled ? 'good' : 'quiet'}>{enabled ? 'Enabled' : 'Disabled'}</StatusBadge>
);
