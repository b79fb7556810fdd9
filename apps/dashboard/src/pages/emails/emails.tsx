import { Button, Group, Pill, Select, Stack } from '@mantine/core';
import { IconExternalLink, IconMail, IconSearchOff } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { EmailsQuery } from '../../generated/graphql.ts';
import { FilterPill, formatTimeRange } from '../../components/filter-pill.tsx';
import { ButtonLink, RowLink } from '../../components/link.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchBox } from '../../components/search-box.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { useShowSearch } from '../../data/show-search.ts';
import { type EmailSearch, OUTCOMES } from './email-search.ts';
import { EmailState, STATUS_LABELS } from './email-status.tsx';

const EMAILS = graphql(`
  query Emails(
    $after: String
    $to: String
    $tag: String
    $status: EmailStatus
    $outcome: EmailOutcome
    $since: DateTime
    $until: DateTime
  ) {
    emails(
      first: 50
      after: $after
      to: $to
      tag: $tag
      status: $status
      outcome: $outcome
      since: $since
      until: $until
    ) {
      nodes {
        id
        status
        to
        subject
        tags
        createdAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const INBOX = graphql(`
  query Inbox {
    inboxUrl
  }
`);

type Email = EmailsQuery['emails']['nodes'][number];

/** The transactional email log. */
export function Emails() {
  const search = useSearch({ from: '/auth/p/$projectId/emails' });
  const { to, tag, status, outcome, since, until } = search;
  const emails = useApiQuery(EMAILS, {
    after: cursorOf(search) ?? null,
    to: to ?? null,
    tag: tag ?? null,
    status: status ?? null,
    outcome: outcome ?? null,
    since: since ?? null,
    until: until ?? null,
  });
  const filtered = [to, tag, status, outcome].some((filter) => filter !== undefined);
  return (
    <Page
      title="Emails"
      about={
        outcome === undefined
          ? 'Transactional email sent through the API, newest first. Campaign email is listed with its campaign.'
          : 'Transactional and campaign email, newest first.'
      }
      actions={<InboxLink />}
    >
      <Stack gap="sm">
        <EmailFilters search={search} />
        <OutcomeFilter search={search} />
        <QueryResult of={emails} skeleton={<RowsSkeleton rows={12} />}>
          {({ emails: { nodes, pageInfo } }) =>
            nodes.length === 0 ? (
              <NoEmails filtered={filtered} />
            ) : (
              <Stack>
                <EmailTable emails={nodes} />
                <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
              </Stack>
            )
          }
        </QueryResult>
      </Stack>
    </Page>
  );
}

/** In development, email goes to the local inbox instead of recipients. */
function InboxLink() {
  const url = useApiQuery(INBOX, {}).data?.inboxUrl;
  if (url == null) return null;
  return (
    <Button
      component="a"
      href={url}
      target="_blank"
      rel="noreferrer"
      variant="default"
      rightSection={<IconExternalLink size={16} aria-hidden />}
    >
      Open the inbox
    </Button>
  );
}

/** The outcome and period that a figure on Home leads to. */
function OutcomeFilter({ search }: { search: EmailSearch }) {
  const show = useShowSearch();
  const { outcome, since: _since, until: _until, after: _first, ...rest } = search;
  if (outcome === undefined) return null;
  return (
    <Pill.Group aria-label="Active filters">
      <FilterPill label={`${OUTCOMES[outcome]} ${formatTimeRange(search)}`} onRemove={() => show(rest)} />
    </Pill.Group>
  );
}

function EmailFilters({ search }: { search: EmailSearch }) {
  const show = useShowSearch();
  const change = (part: Record<string, string | null | undefined>) => {
    const { after: _first, ...rest } = search;
    show({ ...rest, ...part });
  };
  return (
    <Group gap="xs" align="flex-start">
      <SearchBox value={search.to ?? ''} label="Recipient’s full address" onSearch={(to) => change({ to })} />
      <SearchBox value={search.tag ?? ''} label="Tag" width={160} onSearch={(tag) => change({ tag })} />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        w={170}
        data={Object.entries(STATUS_LABELS).map(([value, [, label]]) => ({ value, label }))}
        value={search.status ?? null}
        onChange={(status) => change({ status })}
      />
    </Group>
  );
}

function NoEmails({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return (
      <Empty
        title="No matching emails"
        icon={IconSearchOff}
        action={
          <ButtonLink to="." search={{} as never} variant="default">
            Clear filters
          </ButtonLink>
        }
      >
        No email matches these filters. Enter the full address.
      </Empty>
    );
  }
  return (
    <Empty title="No emails yet" icon={IconMail}>
      Email sent with POST /v1/emails appears here with its delivery status.
    </Empty>
  );
}

function EmailTable({ emails }: { emails: Email[] }) {
  const { id: projectId } = useProject();
  return (
    <DataTable
      label="Emails"
      rows={emails}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'To',
          cell: ({ id, to }) => (
            <RowLink to="/p/$projectId/emails/$emailId" params={{ projectId, emailId: id }}>
              {to.join(', ')}
            </RowLink>
          ),
        },
        { title: 'Status', width: 130, cell: ({ status }) => <EmailState status={status} /> },
        { title: 'Subject', from: 'sm', cell: ({ subject }) => subject ?? '–' },
        { title: 'Tags', from: 'md', cell: ({ tags }) => tags.join(', ') },
        { title: 'Queued', from: 'sm', width: 140, cell: ({ createdAt }) => <When at={createdAt} /> },
      ]}
    />
  );
}
