import { Select, Text } from '@mantine/core';
import { IconForms } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { useApiQuery } from '../../data/api-query.ts';
import { cursorOf } from '../../data/paging.ts';
import { usePolling } from '../../data/polling.ts';
import { useShowSearch } from '../../data/show-search.ts';
import { graphql } from '../../generated/gql.ts';
import type { FormQuery } from '../../generated/graphql.ts';
import { StatusBadge } from '../../components/badge.tsx';
import { RowLink } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, QueryResult, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { SUBMISSION_STATUS } from './labels.ts';

const SUBMISSIONS = graphql(`
  query FormSubmissions($formId: ID!, $status: FormSubmissionStatus, $after: String) {
    formSubmissions(formId: $formId, status: $status, first: 25, after: $after) {
      nodes {
        id
        email
        name
        status
        submittedAt
        submittedFrom
        confirmedAt
        contact {
          id
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

/** What people submitted, newest first. */
export function Submissions({ form: { id: formId, enabled } }: { form: Pick<FormQuery['form'], 'id' | 'enabled'> }) {
  const { id: projectId } = useProject();
  const search = useSearch({ from: '/auth/p/$projectId/forms/$formId' });
  const show = useShowSearch();
  const read = useApiQuery(SUBMISSIONS, {
    formId,
    status: search.status ?? null,
    after: cursorOf(search) ?? null,
  });
  usePolling(read.again, enabled);
  return (
    <Section
      title="Submissions"
      actions={
        <Select
          size="xs"
          w={180}
          aria-label="Status"
          placeholder="Any status"
          clearable
          value={search.status ?? null}
          data={Object.entries(SUBMISSION_STATUS).map(([value, [, label]]) => ({ value, label }))}
          onChange={(status) => show({ status })}
        />
      }
    >
      <QueryResult of={read} skeleton={<RowsSkeleton rows={3} />}>
        {({ formSubmissions: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            search.status === undefined ? (
              <Empty title="No submissions yet" icon={IconForms}>
                Open the page of the form and subscribe yourself to see how it works.
              </Empty>
            ) : (
              <Empty title="No matches" icon={IconForms}>
                No submission has this status.
              </Empty>
            )
          ) : (
            <>
              <DataTable
                label="Submissions"
                rows={nodes}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Email',
                    cell: ({ email, name, contact }) => (
                      <>
                        {contact === null ? (
                          <Text size="sm" fw={550} className="breakable">
                            {email}
                          </Text>
                        ) : (
                          <RowLink to="/p/$projectId/contacts/$contactId" params={{ projectId, contactId: contact.id }}>
                            {email}
                          </RowLink>
                        )}
                        {name !== null && (
                          <Text size="xs" c="dimmed" className="breakable">
                            {name}
                          </Text>
                        )}
                      </>
                    ),
                  },
                  {
                    title: 'Status',
                    cell: ({ status }) => {
                      const [tone, label] = SUBMISSION_STATUS[status];
                      return <StatusBadge tone={tone}>{label}</StatusBadge>;
                    },
                    width: 190,
                  },
                  { title: 'From', cell: ({ submittedFrom }) => submittedFrom ?? '–', from: 'md', width: 170 },
                  { title: 'Submitted', cell: ({ submittedAt }) => <When at={submittedAt} />, width: 150 },
                  {
                    title: 'Confirmed',
                    cell: ({ confirmedAt }) => (confirmedAt === null ? '–' : <When at={confirmedAt} />),
                    from: 'sm',
                    width: 150,
                  },
                ]}
              />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </>
          )
        }
      </QueryResult>
    </Section>
  );
}
