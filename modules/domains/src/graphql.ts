import { builder, callerProject, registerNode, rowsQuery } from '@postroom/platform';
import { type DnsRecord, findDomain, getDomain, listDomains } from './domains.ts';

const VerificationStatus = builder.enumType('VerificationStatus', {
  description: 'How the check of one part of a domain stands.',
  values: {
    pending: { description: 'Not seen yet.' },
    verified: { description: 'Seen, and right.' },
    failing: { description: 'Was verified and is not any more; there is still time to mend it.' },
    failed: { description: 'Given up.' },
  },
});

const Record = builder.objectRef<DnsRecord>('DnsRecord').implement({
  description: 'A DNS record to publish.',
  fields: (t) => ({
    purpose: t.exposeString('purpose', { description: 'What it is for.' }),
    type: t.exposeString('type', { description: 'Record type, such as TXT.' }),
    name: t.exposeString('name', { description: 'Full name of the record.' }),
    value: t.exposeString('value', { description: 'What to publish.' }),
  }),
});

builder.prismaObject('LifecycleEvent', {
  description: 'Something that happened to a domain.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    type: t.exposeString('type', {
      description: 'Such as `added`, `verified`, `failing`, `failed`, `checkRequested`.',
    }),
    part: t.exposeString('part', { description: '`dkim`, `mailFrom`, `dmarc`, or `domain` for the whole.' }),
    actor: t.exposeString('actor', { description: 'The id of a person, or `system`, or `operator`.' }),
    detail: t.exposeString('detail', { description: 'A sentence that says it.' }),
  }),
});

const Domain = builder.prismaObject('Domain', {
  description: 'A domain that a project sends from. Read-only for API keys (spec: Domain).',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Domain id.' }),
    domain: t.exposeString('domain', { description: 'Domain name.' }),
    verifiedForSending: t.exposeBoolean('verifiedForSending', { description: 'Whether mail may be sent from it now.' }),
    verification: t.expose('verification', { type: VerificationStatus, description: 'The whole domain.' }),
    dkim: t.expose('dkim', { type: VerificationStatus, description: 'The DKIM keys.' }),
    mailFrom: t.expose('mailFrom', { type: VerificationStatus, description: 'The MAIL FROM subdomain.' }),
    dmarc: t.expose('dmarc', { type: VerificationStatus, description: 'The DMARC policy.' }),
    region: t.exposeString('region', { description: 'Sending region.' }),
    records: t.field({
      type: [Record],
      description: 'The records to publish.',
      select: { records: true },
      resolve: (domain) => domain.records as unknown as DnsRecord[],
    }),
    recommendations: t.expose('recommendations', { type: 'JSON', description: 'Open deliverability recommendations.' }),
    dnsProvider: t.exposeString('dnsProvider', { nullable: true, description: 'The DNS provider that was detected.' }),
    lifecycle: t.relation('lifecycle', {
      description: 'What happened to the domain, newest first; at most the last 200.',
      query: { orderBy: { id: 'desc' }, take: 200 },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Creation time.' }),
  }),
});

registerNode('dom', 'Domain', findDomain);

builder.queryFields((t) => ({
  domain: t.prismaField({
    type: Domain,
    description: 'A domain of the project by its name; `not_found` when it is not in the project.',
    args: { domain: t.arg.string({ required: true, description: 'Domain name.' }) },
    resolve: (query, _root, { domain }, context) => getDomain(callerProject(context), domain, query),
  }),
  domains: t.connection({
    type: Domain,
    description: "The project's sending domains, newest first.",
    resolve: (_root, args, context, info) => listDomains(callerProject(context), args, rowsQuery(context, info)),
  }),
}));
