import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** All records of a name and type; Route 53 changes them together. */
interface RecordSet {
  name: string;
  type: string;
  ttl: number;
  values: string[];
  setIdentifier?: string;
}

/** A fake of the part of Route 53's API that publishing uses, with its validation. */
export interface Route53StandIn {
  url: string;
  accessKeyId: string;
  sets: RecordSet[];
  /** The comments of accepted changes. */
  comments: string[];
  /** Called before a change is made, to simulate a concurrent change. */
  beforeChange: () => void;
  close: () => Promise<void>;
}

interface HostedZone {
  id: string;
  name: string;
  nameservers: string[];
  isPrivate?: boolean;
}

/** Changes apply to the last zone. */
export async function startRoute53(...zones: HostedZone[]): Promise<Route53StandIn> {
  const standIn = {
    accessKeyId: 'AKIATEST',
    sets: [] as RecordSet[],
    comments: [] as string[],
    beforeChange: () => {},
  };
  const server = createServer(async (request, response) => {
    const answer = (status: number, xml: string) =>
      response.writeHead(status, { 'Content-Type': 'text/xml' }).end(`<?xml version="1.0"?>${xml}`);
    const refuse = (status: number, code: string, message: string) =>
      answer(
        status,
        `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${escape(message)}</Message></Error></ErrorResponse>`,
      );
    if (request.headers.authorization?.includes(`Credential=${standIn.accessKeyId}/`) !== true) {
      return refuse(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.');
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const url = new URL(request.url ?? '/', 'http://route53');
    const [, , kind, id, rrset] = url.pathname.split('/');
    if (kind === 'hostedzonesbyname') return answer(200, zoneList(zones, url.searchParams.get('dnsname') ?? ''));
    const zone = zones.find((one) => one.id === id);
    if (kind !== 'hostedzone' || zone === undefined) return refuse(404, 'NoSuchHostedZone', 'No such zone.');
    if (rrset === undefined) return answer(200, zoneDetail(zone));
    if (request.method === 'GET') return answer(200, setList(standIn.sets, `${url.searchParams.get('name')}.`));
    standIn.beforeChange();
    const body = Buffer.concat(chunks).toString();
    const { sets, problem } = applyBatch(standIn.sets, body);
    if (problem !== undefined) return refuse(400, 'InvalidChangeBatch', problem);
    standIn.sets.splice(0, standIn.sets.length, ...sets);
    standIn.comments.push(element(body, 'Comment') ?? '');
    answer(
      200,
      `<ChangeResourceRecordSetsResponse xmlns="${NAMESPACE}"><ChangeInfo><Id>/change/C1</Id><Status>PENDING</Status><SubmittedAt>2026-11-21T00:00:00Z</SubmittedAt></ChangeInfo></ChangeResourceRecordSetsResponse>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(standIn, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/';

/** A batch is atomic. A deletion must match the existing set exactly, and a creation fails if the set exists. */
function applyBatch(sets: readonly RecordSet[], body: string): { sets: RecordSet[]; problem?: string } {
  const next = [...sets];
  for (const change of elements(body, 'Change')) {
    const set = readSet(change);
    const index = next.findIndex(({ name, type }) => name === set.name && type === set.type);
    if (element(change, 'Action') === 'DELETE') {
      if (index === -1 || JSON.stringify(next[index]) !== JSON.stringify(set)) {
        return {
          sets: next,
          problem: `Tried to delete resource record set [name='${set.name}', type='${set.type}'] but it was not found`,
        };
      }
      next.splice(index, 1);
    } else {
      if (index !== -1) {
        return {
          sets: next,
          problem: `Tried to create resource record set [name='${set.name}', type='${set.type}'] but it already exists`,
        };
      }
      next.push(set);
    }
  }
  return { sets: next };
}

function readSet(xml: string): RecordSet {
  const name = element(xml, 'Name') ?? '';
  return {
    name: name.endsWith('.') ? name : `${name}.`,
    type: element(xml, 'Type') ?? '',
    ttl: Number(element(xml, 'TTL')),
    values: elements(xml, 'Value').map(unescape),
  };
}

const elements = (xml: string, tag: string) =>
  [...xml.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, inner = '']) => inner);
const element = (xml: string, tag: string) => elements(xml, tag)[0];
const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const unescape = (xml: string) =>
  xml.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const zoneXml = ({ id, name, isPrivate = false }: HostedZone) =>
  `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><CallerReference>x</CallerReference><Config><PrivateZone>${isPrivate}</PrivateZone></Config></HostedZone>`;

/** The sets from a name on, in Route 53's order. */
function zoneList(zones: readonly HostedZone[], from: string): string {
  const listed = zones.filter(({ name }) => name >= from.replace(/\.$/, ''));
  return `<ListHostedZonesByNameResponse xmlns="${NAMESPACE}"><HostedZones>${listed.map(zoneXml).join('')}</HostedZones><IsTruncated>false</IsTruncated><MaxItems>20</MaxItems></ListHostedZonesByNameResponse>`;
}

function zoneDetail(zone: HostedZone): string {
  const servers = zone.nameservers.map((server) => `<NameServer>${server}</NameServer>`).join('');
  return `<GetHostedZoneResponse xmlns="${NAMESPACE}">${zoneXml(zone)}<DelegationSet><NameServers>${servers}</NameServers></DelegationSet></GetHostedZoneResponse>`;
}

function setList(sets: readonly RecordSet[], from: string): string {
  const listed = sets.filter(({ name }) => name >= from).map(setXml);
  return `<ListResourceRecordSetsResponse xmlns="${NAMESPACE}"><ResourceRecordSets>${listed.join('')}</ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>50</MaxItems></ListResourceRecordSetsResponse>`;
}

function setXml({ name, type, ttl, values, setIdentifier }: RecordSet): string {
  const records = values.map((value) => `<ResourceRecord><Value>${escape(value)}</Value></ResourceRecord>`).join('');
  const routing =
    setIdentifier === undefined ? '' : `<SetIdentifier>${setIdentifier}</SetIdentifier><Weight>1</Weight>`;
  return `<ResourceRecordSet><Name>${name}</Name><Type>${type}</Type>${routing}<TTL>${ttl}</TTL><ResourceRecords>${records}</ResourceRecords></ResourceRecordSet>`;
}
