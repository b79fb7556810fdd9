import { Button, Group, Text } from '@mantine/core';
import { IconPlus, IconWorldCheck } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { usePermission, useProject } from '../../app/session.tsx';
import { cursorOf } from '../../data/paging.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import type { DomainsQuery } from '../../generated/graphql.ts';
import { RowLink } from '../../components/link.tsx';
import { useCreateDialog } from '../../components/use-create-dialog.ts';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { QueryResult, Empty, RowsSkeleton } from '../../components/states.tsx';
import { DataTable } from '../../components/table.tsx';
import { When } from '../../components/when.tsx';
import { AddDomain } from './add-domain.tsx';
import { DomainStatus, PartStatus } from './status.tsx';

const DOMAINS = graphql(`
  query Domains($first: Int!, $after: String) {
    domains(first: $first, after: $after) {
      nodes {
        id
        domain
        unicodeName
        verification
        dkim
        mailFrom
        dmarc
        blockedAt
        checkedAt
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`);

const PAGE_SIZE = 25;

type Domain = DomainsQuery['domains']['nodes'][number];

/** The sending domain list. */
export function Domains() {
  const search = useSearch({ from: '/auth/p/$projectId/domains' });
  const domains = useApiQuery(DOMAINS, { first: PAGE_SIZE, after: cursorOf(search) ?? null });
  const [adding, setAdding] = useCreateDialog('manage');
  const add = usePermission('manage') && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
      Add domain
    </Button>
  );
  return (
    <Page
      title="Domains"
      about="Verify the domains you send from with DNS records, so that mailbox providers accept your email."
      actions={add}
    >
      <QueryResult of={domains} skeleton={<RowsSkeleton rows={3} />}>
        {({ domains: { nodes, pageInfo } }) =>
          nodes.length === 0 ? (
            <Empty title="No domains yet" icon={IconWorldCheck} action={add}>
              Add the domain of your from address. You get four DNS records to publish, and we check until we find them.
            </Empty>
          ) : (
            <>
              <DomainTable domains={nodes} />
              <Pager search={search} pageInfo={pageInfo} shown={nodes.length} />
            </>
          )
        }
      </QueryResult>
      <AddDomain opened={adding} onClose={() => setAdding(false)} />
    </Page>
  );
}

function DomainTable({ domains }: { domains: Domain[] }) {
  const { id: projectId } = useProject();
  return (
    <DataTable
      label="Domains"
      rows={domains}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Domain',
          cell: ({ domain, unicodeName }) => (
            <>
              <RowLink to="/p/$projectId/domains/$domain" params={{ projectId, domain }}>
                {unicodeName}
              </RowLink>
              {unicodeName !== domain && (
                <Text size="xs" c="dimmed" className="breakable">
                  {domain}
                </Text>
              )}
            </>
          ),
        },
        { title: 'State', cell: (domain) => <DomainStatus of={domain} />, width: 150 },
        {
          title: 'Records',
          cell: ({ dkim, mailFrom, dmarc }) => (
            <Group gap={6}>
              <PartStatus of={dkim} name="DKIM" />
              <PartStatus of={mailFrom} name="MAIL FROM" />
              <PartStatus of={dmarc} name="DMARC" />
            </Group>
          ),
          from: 'md',
        },
        {
          title: 'Last checked',
          cell: ({ checkedAt }) => (checkedAt === null ? <Text c="dimmed">Not yet</Text> : <When at={checkedAt} />),
          from: 'sm',
          width: 150,
        },
      ]}
    />
  );
}
