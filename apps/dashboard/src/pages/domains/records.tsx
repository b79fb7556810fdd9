import { Badge, Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { CopyLine } from '../../components/copy.tsx';
import { Section } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import type { Domain } from './domain-row.ts';
import { PartStatus } from './status.tsx';

type DnsRecord = Domain['records'][number] | NonNullable<Domain['trackingRecord']>;

/** The purpose of each record. */
const PURPOSES: Record<string, string> = {
  dkim: 'DKIM: signs your email so that receivers can verify it',
  mailFrom: 'MAIL FROM: receives bounces and authorizes senders (SPF)',
  dmarc: 'DMARC: tells receivers how to handle forged email',
  tracking: 'Links: serves tracked links from your own domain',
};

/** All records to publish, with status and current value. */
export function Records({ domain: { records, trackingRecord, zone, dnsProvider } }: { domain: Domain }) {
  const rows: DnsRecord[] = trackingRecord === null ? records : [...records, trackingRecord];
  if (rows.length === 0) {
    return (
      <Section title="DNS records">
        <Card>
          <Text size="sm" c="dimmed">
            This is a development domain. It needs no records, and its email goes to the local inbox.
          </Text>
        </Card>
      </Section>
    );
  }
  return (
    <Section
      title="DNS records"
      about="Add each record at your DNS provider. Most providers ask for the host in the zone, some for the full name."
      actions={
        dnsProvider !== null && (
          <Button
            component="a"
            href={dnsProvider.editorUrl}
            target="_blank"
            rel="noreferrer"
            variant="default"
            size="xs"
            rightSection={<IconExternalLink size={14} aria-hidden />}
          >
            Open {dnsProvider.name}
          </Button>
        )
      }
    >
      <DataTable
        label="DNS records"
        rows={rows}
        keyOf={({ type, name }) => `${type} ${name}`}
        columns={[
          { title: 'Record', cell: (record) => <Purpose of={record} />, width: '19%' },
          { title: 'Host in the zone', cell: ({ name }) => <Host zone={zone} name={name} />, width: '18%' },
          { title: 'Full name', cell: ({ name }) => <CopyLine text={name} label="Copy: Full name" />, width: '22%' },
          { title: 'Value', cell: (record) => <Value of={record} /> },
          { title: 'Status', cell: ({ status }) => <PartStatus of={status} />, width: 110 },
        ]}
      />
    </Section>
  );
}

function Purpose({ of: { type, purpose } }: { of: DnsRecord }) {
  return (
    <>
      <Badge color="gray" radius="sm">
        {type}
      </Badge>
      <Text size="sm" mt={4}>
        {PURPOSES[purpose] ?? purpose}
      </Text>
    </>
  );
}

function Host({ zone, name }: { zone: string | null; name: string }) {
  const host = zone === null ? undefined : relativeTo(zone, name);
  if (host !== undefined) return <CopyLine text={host} label="Copy: Host in the zone" />;
  return (
    <Text size="sm" c="dimmed" span>
      Unknown: the zone was not found yet
    </Text>
  );
}

function Value({ of: { type, value, status, note, found } }: { of: DnsRecord }) {
  const [priority = '10', server = value] = type === 'MX' ? value.split(' ') : [];
  return (
    <Stack gap="xs">
      {type === 'MX' ? (
        <>
          <CopyLine text={server} label="Copy: Mail server" />
          <Group gap="xs" wrap="nowrap">
            <Text size="sm">Priority</Text>
            <CopyLine text={priority} label="Copy: Priority" />
          </Group>
        </>
      ) : (
        <CopyLine text={value} label="Copy: Value" />
      )}
      {note !== null && (
        <Text size="sm" c={status === 'verified' ? 'dimmed' : 'var(--mantine-color-error)'}>
          {note}
        </Text>
      )}
      {status !== 'verified' && found.length > 0 && (
        <Stack gap={4}>
          <Text size="sm" fw={500}>
            Current value
          </Text>
          {found.map((text) => (
            <code key={text} className="breakable found">
              {text}
            </code>
          ))}
        </Stack>
      )}
    </Stack>
  );
}

/** The host relative to the zone, or @ for the apex, as most DNS providers expect; `undefined` outside the zone. */
function relativeTo(zone: string, name: string): string | undefined {
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : undefined;
}
