import { Badge, Button, Card, Group, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { CopyField } from '../../components/copy.tsx';
import { Section } from '../../components/page.tsx';
import type { Domain } from './domain.tsx';
import { PartStatus } from './status.tsx';

type DnsRecord = Domain['records'][number] | NonNullable<Domain['trackingRecord']>;

/** The purpose of each record. */
const PURPOSES: Record<string, string> = {
  dkim: 'DKIM: signs your email so that receivers can verify it',
  mailFrom: 'MAIL FROM: receives bounces and authorizes senders (SPF)',
  dmarc: 'DMARC: tells receivers how to handle forged email',
  tracking: 'Links: serves tracked links from your own domain',
};

/** The records to publish, with status and current value. */
export function Records({ domain: { records, zone, dnsProvider } }: { domain: Domain }) {
  if (records.length === 0) {
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
      about="Add each record at your DNS provider, exactly as shown."
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
      <Stack>
        {records.map((record) => (
          <RecordCard key={`${record.type} ${record.name}`} record={record} zone={zone} />
        ))}
      </Stack>
    </Section>
  );
}

/** One record with copyable fields. */
export function RecordCard({ record, zone }: { record: DnsRecord; zone: string | null }) {
  const { type, name, value, purpose, status, note, found } = record;
  const [priority, target] = type === 'MX' ? value.split(' ') : [];
  return (
    <Card component="article" aria-label={`${type} record ${name}`}>
      <Group justify="space-between" mb="md" gap="xs">
        <Group gap="sm">
          <Badge color="gray" radius="sm">
            {type}
          </Badge>
          <Text size="sm" fw={550}>
            {PURPOSES[purpose] ?? purpose}
          </Text>
        </Group>
        <PartStatus of={status} />
      </Group>
      <Stack gap="sm">
        <CopyField label="Host" value={relativeTo(zone, name)} />
        {zone !== null && (
          <Text size="xs" c="dimmed" mt={-6}>
            Some DNS providers require the full name: {name}
          </Text>
        )}
        {type === 'MX' ? (
          <>
            <CopyField label="Mail server" value={target ?? value} />
            <CopyField label="Priority" value={priority ?? '10'} />
          </>
        ) : (
          <CopyField label="Value" value={value} />
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
    </Card>
  );
}

/** The host relative to the zone, or @ for the apex, as most DNS providers expect. */
function relativeTo(zone: string | null, name: string): string {
  if (zone === null) return name;
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
