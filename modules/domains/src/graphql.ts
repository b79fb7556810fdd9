import {
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  Node,
  registerNode,
  rowsQuery,
  workflowUrl,
  relayNames,
  removalMutation,
} from '@postroom/platform';
import { recordsOf } from './check.ts';
import { addDomain, getDomain, listDomains, removeDomain, requestCheck, setTrackingDomain } from './domains.ts';
import { watchDomain } from './subscription.ts';
import { type DnsProvider, providerFor } from './providers.ts';
import type { Step } from './publish/plan.ts';
import { type Publication, publishRecords } from './publish/publish.ts';
import { type Recommendation, SEVERITIES } from './recommendations.ts';
import type { DnsRecord, RecordState } from './records.ts';
import { type TrackingRecord, trackingRecord } from './tracking.ts';
import { DEFAULT_WARMUP_STEPS, setWarmup, type Warmup, warmupsOf } from './warmup.ts';

const VerificationStatus = builder.enumType('VerificationStatus', {
  description: 'How the check of one part of a domain stands.',
  values: {
    pending: { description: 'Not seen yet.' },
    verified: { description: 'Seen, and right.' },
    failing: { description: 'Was verified and is not any more; there are three days to mend it.' },
    failed: {
      description: 'Not seen for 72 hours after it was added, or lost for three days. Still looked for daily.',
    },
  },
});

const Record = builder.objectRef<RecordState | TrackingRecord>('DnsRecord').implement({
  description: 'A DNS record to publish.',
  fields: (t) => ({
    purpose: t.exposeString('purpose', { description: 'What it verifies: `dkim`, `mailFrom`, `dmarc` or `tracking`.' }),
    type: t.exposeString('type', { description: 'Record type, such as TXT.' }),
    name: t.exposeString('name', { description: 'Full name of the record.' }),
    value: t.exposeString('value', { description: 'What to publish.' }),
    status: t.expose('status', { type: VerificationStatus, description: 'How it stood at the last check.' }),
    found: t.exposeStringList('found', { description: 'What stands at the name; empty when nothing does.' }),
    note: t.exposeString('note', { nullable: true, description: 'What is wrong with it, or good to know.' }),
  }),
});

const Severity = builder.enumType('RecommendationSeverity', {
  description: 'How much mail suffers, the worst first.',
  values: SEVERITIES,
});

const RecommendedRecord = builder.objectRef<NonNullable<Recommendation['record']>>('RecommendedRecord').implement({
  description: 'A DNS record that would settle a recommendation.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Record type, such as TXT.' }),
    name: t.exposeString('name', { description: 'Full name of the record.' }),
    value: t.exposeString('value', { description: 'What to publish in place of what is there.' }),
  }),
});

const DomainRecommendation = builder.objectRef<Recommendation>('DomainRecommendation').implement({
  description: 'A recommended change to the DNS of a domain.',
  fields: (t) => ({
    code: t.exposeString('id', { description: 'Which one it is, such as `dmarc_missing`.' }),
    id: t.exposeString('id', {
      description: 'Which one it is, such as `dmarc_missing`.',
      deprecationReason: 'Use DomainRecommendation.code.',
    }),
    severity: t.expose('severity', { type: Severity, description: 'How much mail suffers.' }),
    title: t.exposeString('title', { description: 'What to do.' }),
    detail: t.exposeString('detail', { description: 'Why.' }),
    record: t.expose('record', {
      type: RecommendedRecord,
      nullable: true,
      description: 'What to publish, if that does it.',
    }),
  }),
});

const Provider = builder.objectRef<DnsProvider>('DnsProvider').implement({
  description: 'Who runs the name servers of a domain.',
  fields: (t) => ({
    code: t.exposeString('id', { description: 'Which one it is, such as `cloudflare`.' }),
    id: t.exposeString('id', {
      description: 'Which one it is, such as `cloudflare`.',
      deprecationReason: 'Use DnsProvider.code.',
    }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    editorUrl: t.exposeString('editorUrl', { description: 'Where its records are edited.' }),
  }),
});

builder.prismaObject('LifecycleEvent', {
  description: 'Something that happened to a domain.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
    type: t.exposeString('type', {
      description: 'Such as `added`, `verified`, `failing`, `failed`, `checkRequested`.',
    }),
    part: t.exposeString('part', {
      description: '`dkim`, `mailFrom`, `dmarc`, `tracking`, or `domain` for the whole.',
    }),
    actor: t.exposeString('actor', { description: 'The id of a person, or `system`, or `operator`.' }),
    detail: t.exposeString('detail', { description: 'A sentence that says it.' }),
  }),
});

const Domain = builder.prismaObject('Domain', {
  interfaces: [Node],
  description: 'A domain that a project sends from. Read-only for API keys.',
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
    mailFromDomain: t.exposeString('mailFromDomain', {
      nullable: true,
      description: 'The subdomain that bounces come back to; null for a domain of development.',
    }),
    trackingDomain: t.exposeString('trackingDomain', {
      nullable: true,
      description:
        "The host that tracking links begin with while its record is verified; null for the gateway's own alone.",
    }),
    trackingRecord: t.field({
      type: Record,
      nullable: true,
      description: 'The record that leads that host here; null when there is none to publish.',
      select: { trackingDomain: true, tracking: true, trackingSince: true, memory: true, mailFromDomain: true },
      resolve: (domain) => (domain.mailFromDomain === null ? null : trackingRecord(domain)),
    }),
    records: t.field({
      type: [Record],
      description: 'The records to publish.',
      select: { records: true },
      resolve: recordsOf,
    }),
    recommendations: t.field({
      type: [DomainRecommendation],
      description: 'Open deliverability recommendations, the worst first.',
      select: { recommendations: true },
      resolve: (domain) => domain.recommendations as unknown as Recommendation[],
    }),
    dnsProvider: t.field({
      type: Provider,
      nullable: true,
      description: 'The DNS provider that was detected.',
      select: { dnsProvider: true, domain: true, zone: true },
      resolve: ({ dnsProvider, domain, zone }) =>
        dnsProvider === null ? null : providerFor(dnsProvider, zone ?? domain),
    }),
    zone: t.exposeString('zone', {
      nullable: true,
      description: 'The zone that holds it: itself, or a domain above it; null before it has been looked up.',
    }),
    workflowUrl: t.string({
      nullable: true,
      description: 'Its verification in the Temporal UI; null if the address of the UI is not configured.',
      resolve: ({ id }) => workflowUrl(id),
    }),
    nameservers: t.exposeStringList('nameservers', { description: 'The name servers of its zone.' }),
    lifecycle: t.relation('lifecycle', {
      description: 'What happened to the domain, newest first; at most the last 200.',
      query: { orderBy: { id: 'desc' }, take: 200 },
    }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', nullable: true, description: 'When it was last looked up.' }),
    nextCheckAt: t.expose('nextCheckAt', { type: 'DateTime', nullable: true, description: 'When it will be next.' }),
    blockedAt: t.expose('blockedAt', { type: 'DateTime', nullable: true, description: 'When an operator blocked it.' }),
    blockedReason: t.exposeString('blockedReason', { nullable: true, description: 'Why it was blocked.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Creation time.' }),
  }),
});

const DomainWarmup = builder.objectRef<Warmup>('DomainWarmup').implement({
  description: 'Warm-up of a domain: a daily limit for campaign messages that grows each day.',
  fields: (t) => ({
    steps: t.exposeIntList('steps', {
      description: 'Messages on the first, second … day on which mail goes out. After the last there is no limit.',
    }),
    since: t.expose('since', { type: 'DateTime', description: 'The day it began, in UTC.' }),
    step: t.exposeInt('step', { description: 'Which step today is, from 1 on.' }),
    isWarm: t.exposeBoolean('isWarm', { description: 'Whether all steps are done.' }),
    todayLimit: t.exposeInt('todayLimit', {
      nullable: true,
      description: 'Messages that may go out today; null when all steps are done.',
    }),
    todaySent: t.exposeInt('todaySent', { description: 'Those that have.' }),
  }),
});

const loadWarmup = batchLoader((_: Context, ids) => warmupsOf(ids));

builder.prismaObjectField('Domain', 'warmup', (t) =>
  t.field({
    type: DomainWarmup,
    nullable: true,
    description: 'Its warm-up; null when it has none.',
    select: { id: true },
    resolve: ({ id }, _args, context) => loadWarmup(context, id),
  }),
);

registerNode('dom', 'Domain', (context, ids) =>
  db.domain.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
);

builder.queryFields((t) => ({
  domain: t.prismaField({
    type: Domain,
    description: 'A domain of the project by its name; `not_found` when it is not in the project.',
    args: { domain: t.arg.string({ required: true, description: 'Domain name.' }) },
    resolve: (query, _root, { domain }, context) => getDomain(callerProject(context), domain, query),
  }),
  defaultWarmupSteps: t.intList({
    description: 'A warm-up that suits most domains: messages on the first, second … day.',
    resolve: () => DEFAULT_WARMUP_STEPS,
  }),
  domains: t.connection(
    {
      type: Domain,
      description: "The project's sending domains, newest first.",
      resolve: (_root, args, context, info) => listDomains(callerProject(context), args, rowsQuery(context, info)),
    },
    ...relayNames('Domain'),
  ),
}));

builder.subscriptionField('domainChecked', (t) =>
  t.field({
    type: Domain,
    description: 'A domain as it is now, then each time it has been looked up, until it is removed.',
    args: { id: t.arg.id({ required: true, description: 'Domain id.' }) },
    subscribe: (_root, { id }, context) => watchDomain(callerProject(context), id),
    resolve: (domain) => domain,
  }),
);

const AddDomainInput = builder.inputType('AddDomainInput', {
  description: 'A domain to send from.',
  fields: (t) => ({
    domain: t.string({ required: true, description: 'Its name, such as `mail.example.com`.' }),
    mailFromLabel: t.string({ description: 'The label of the subdomain that bounces go to; default: `bounce`.' }),
  }),
});

const PublishingAction = builder.enumType('PublishingAction', {
  description: 'What publishing does about a record.',
  values: {
    create: { description: 'It is added.' },
    replace: { description: 'It takes the place of one that was published by us before.' },
    keep: { description: 'It is there already.' },
    conflict: { description: 'Something that is not ours is in its place, and is left as it is.' },
  },
});

const PublishedRecord = builder.objectRef<DnsRecord>('PublishedRecord').implement({
  description: 'A DNS record as it is published.',
  fields: (t) => ({
    purpose: t.exposeString('purpose', { description: 'What it verifies: `dkim`, `mailFrom` or `dmarc`.' }),
    type: t.exposeString('type', { description: 'Record type, such as TXT.' }),
    name: t.exposeString('name', { description: 'Full name of the record.' }),
    value: t.exposeString('value', { description: 'Its value.' }),
  }),
});

const PublishingStep = builder.objectRef<Step>('PublishingStep').implement({
  description: 'One record, and what publishing does about it.',
  fields: (t) => ({
    action: t.expose('action', { type: PublishingAction, description: 'What is done.' }),
    record: t.expose('record', { type: PublishedRecord, description: 'The record.' }),
    existing: t.exposeStringList('existing', { description: 'The records of its kind that were there.' }),
    reason: t.exposeString('reason', { description: 'Why, in a sentence.' }),
  }),
});

const DnsPublication = builder.objectRef<Publication>('DnsPublication').implement({
  description: "What publishing a domain's records did, or would do.",
  fields: (t) => ({
    zone: t.exposeString('zone', { description: 'The zone at the provider.' }),
    dryRun: t.exposeBoolean('dryRun', { description: 'Whether nothing was changed.' }),
    steps: t.expose('steps', { type: [PublishingStep], description: 'Record by record.' }),
  }),
});

const CloudflareInput = builder.inputType('CloudflareInput', {
  description: 'Access to a zone at Cloudflare.',
  fields: (t) => ({
    apiToken: t.string({ required: true, description: 'A token that may edit the DNS of the zone.' }),
  }),
});

const Route53Input = builder.inputType('Route53Input', {
  description: 'Access to a hosted zone at Route 53.',
  fields: (t) => ({
    accessKeyId: t.string({ required: true, description: 'Access key id.' }),
    secretAccessKey: t.string({ required: true, description: 'Secret access key.' }),
    sessionToken: t.string({ description: 'Session token, for temporary credentials.' }),
  }),
});

const PublishInput = builder.inputType('PublishDomainRecordsInput', {
  description: 'Where to publish. The credentials serve this once and are not kept.',
  fields: (t) => ({
    cloudflare: t.field({ type: CloudflareInput, description: 'At Cloudflare.' }),
    route53: t.field({ type: Route53Input, description: 'At Amazon Route 53.' }),
    dryRun: t.boolean({ defaultValue: true, description: 'Only reports what would be done; default: true.' }),
  }),
});

// The specification keeps writes to the dashboard: people who are signed in, never an API key.
const byPeople = { authScopes: { manage: true }, skipTypeScopes: true } as const;

builder.mutationFields((t) => ({
  addDomain: t.prismaField({
    ...byPeople,
    type: Domain,
    description:
      'Adds a domain; it can be sent from when its records are published. `conflict` when the project has it.',
    args: { input: t.arg({ type: AddDomainInput, required: true, description: 'The domain.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { id } = await addDomain(callerProject(context), input, authenticated(context).id);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  checkDomain: t.prismaField({
    ...byPeople,
    type: Domain,
    description: 'Has a domain looked up now; what is found follows within seconds.',
    args: { id: t.arg.id({ required: true, description: 'Domain id.' }) },
    resolve: async (query, _root, { id }, context) => {
      await requestCheck(callerProject(context), id, authenticated(context).id);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  setTrackingDomain: t.prismaField({
    ...byPeople,
    type: Domain,
    description:
      "Sets the host that tracking links of the domain's mail begin with once its record is seen. It must be a CNAME of the gateway's host, which answers there over https.",
    args: {
      id: t.arg.id({ required: true, description: 'Domain id.' }),
      host: t.arg.string({ description: "A host below the domain; null for the gateway's own." }),
    },
    resolve: async (query, _root, { id, host }, context) => {
      await setTrackingDomain(callerProject(context), id, host ?? null, authenticated(context).id);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  setDomainWarmup: t.prismaField({
    ...byPeople,
    type: Domain,
    description:
      'Gives a domain a warm-up, which begins today, or takes it away with null. Campaigns wait for the next day when a day is used up.',
    args: {
      id: t.arg.id({ required: true, description: 'Domain id.' }),
      steps: t.arg.intList({
        description: 'Messages on the first, second … day; 1 to 90 numbers, none less than the one before.',
      }),
    },
    resolve: async (query, _root, { id, steps }, context) => {
      await setWarmup(callerProject(context), id, steps ?? null);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  publishDomainRecords: t.field({
    ...byPeople,
    type: DnsPublication,
    description:
      "Publishes a domain's records at its DNS provider. What is not ours is never changed; those records come back as conflicts.",
    args: {
      id: t.arg.id({ required: true, description: 'Domain id.' }),
      input: t.arg({ type: PublishInput, required: true, description: 'Where, with which credentials.' }),
    },
    resolve: (_root, { id, input }, context) =>
      publishRecords(callerProject(context), id, {
        ...input,
        dryRun: input.dryRun ?? true,
        actor: authenticated(context).id,
      }),
  }),
}));

removalMutation('domainRemove', {
  replaces: 'removeDomain',
  description: 'Removes a domain with its keys; mail from it is refused from now on.',
  id: 'Domain id.',
  ...byPeople,
  remove: (context, id) => removeDomain(callerProject(context), id),
});
