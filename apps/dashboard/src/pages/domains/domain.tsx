import { Alert, Card, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useLive } from '../../data/live.ts';
import { useApiQuery } from '../../data/api-query.ts';
import { graphql } from '../../generated/gql.ts';
import { DescriptionList } from '../../components/description-list.tsx';
import { TextLink } from '../../components/link.tsx';
import { BackLabel, Page } from '../../components/page.tsx';
import { QueryResult } from '../../components/states.tsx';
import { When } from '../../components/when.tsx';
import { DomainActions } from './domain-actions.tsx';
import { Lifecycle } from './lifecycle.tsx';
import { Recommendations } from './recommendations.tsx';
import { Records } from './records.tsx';
import { DomainStatus } from './status.tsx';
import { TrackingHost } from './tracking-host.tsx';
import { Warmup } from './warmup.tsx';
import { DOMAIN, type Domain } from './domain-row.ts';

const CHECKED = graphql(`
  subscription DomainChecked($id: ID!) {
    domainChecked(id: $id) {
      id
    }
  }
`);

/** One domain with live DNS record status. */
export function DomainPage() {
  const { projectId, domain: name } = useParams({ from: '/auth/p/$projectId/domains/$domain' });
  const read = useApiQuery(DOMAIN, { domain: name });
  const domain = read.data?.domain;
  useLive(CHECKED, { id: domain?.id ?? '' }, { pause: domain === undefined });
  return (
    <Page
      title={domain?.unicodeName ?? name}
      mark={domain !== undefined && <DomainStatus of={domain} />}
      actions={domain !== undefined && <DomainActions domain={domain} />}
      back={
        <TextLink to="/p/$projectId/domains" params={{ projectId }} size="sm">
          <BackLabel>Domains</BackLabel>
        </TextLink>
      }
    >
      <QueryResult of={read}>{(data) => <Content domain={data.domain} />}</QueryResult>
    </Page>
  );
}

function Content({ domain }: { domain: Domain }) {
  const {
    domain: name,
    unicodeName,
    checkedAt,
    nextCheckAt,
    region,
    mailFromDomain,
    dnsProvider,
    nameservers,
  } = domain;
  return (
    <>
      <Situation domain={domain} />
      {mailFromDomain !== null && (
        <Card>
          <DescriptionList
            items={[
              unicodeName !== name && ['In DNS', name],
              ['Last checked', checkedAt === null ? 'Not yet' : <When key="at" at={checkedAt} />],
              nextCheckAt !== null && ['Next check', <When key="next" at={nextCheckAt} />],
              ['DNS provider', dnsProvider?.name ?? (nameservers.length > 0 ? nameservers.join(', ') : 'Unknown')],
              ['Bounces go to', mailFromDomain],
              region !== 'local' && ['Region', region],
            ]}
          />
        </Card>
      )}
      <Records domain={domain} />
      <TrackingHost domain={domain} />
      <Warmup domain={domain} />
      <Recommendations of={domain.recommendations} />
      <Lifecycle events={domain.lifecycle} />
    </>
  );
}

/** Explains the state and the next step. */
function Situation({ domain: { verification, verifiedForSending, blockedAt, blockedReason } }: { domain: Domain }) {
  if (blockedAt !== null) {
    return (
      <Alert color="red" icon={<IconAlertTriangle aria-hidden />}>
        An operator blocked this domain. Campaigns from it are rejected. {blockedReason}
      </Alert>
    );
  }
  const say = {
    verified: 'This domain is ready to send.',
    pending:
      'Publish the records below at your DNS provider. We check until we find them; DNS changes can take up to an hour.',
    failing: verifiedForSending
      ? 'A DNS record is missing. You can keep sending from this domain for up to three days; restore the record.'
      : 'A DNS record is missing, so email from this domain is rejected. Restore the record.',
    failed: 'The records were not found, so email from this domain is rejected. Publish them, then check now.',
  }[verification];
  const color = { verified: 'green', pending: 'blue', failing: 'yellow', failed: 'red' }[verification];
  const Icon =
    verification === 'verified' ? IconCircleCheck : verification === 'pending' ? IconInfoCircle : IconAlertTriangle;
  return (
    <Alert color={color} icon={<Icon aria-hidden />} role="status">
      <Text size="sm">{say}</Text>
    </Alert>
  );
}
