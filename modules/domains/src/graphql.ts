import {
  atMost,
  authenticated,
  batchLoader,
  builder,
  callerProject,
  type Context,
  db,
  isId,
  managersOnly,
  MAX_NAME_LENGTH,
  Node,
  registerNode,
  relayNames,
  removalMutation,
  rowsQuery,
  unicodeDomain,
  workflowUrl,
} from '@postroom/platform';
import { actorName } from '@postroom/projects';
import { recordsOf } from './check.ts';
import { MAX_DOMAIN_LENGTH } from './domain-name.ts';
import { addDomain, getDomain, listDomains, removeDomain, requestCheck, setTrackingDomain } from './domains.ts';
import { watchDomain } from './subscription.ts';
import { type DnsProvider, providerFor } from './providers.ts';
import type { Step } from './publish/plan.ts';
import { type Publication, publishRecords } from './publish/publish.ts';
import type { Recommendation } from './recommendations.ts';
import type { DnsRecord, RecordState } from './records.ts';
import { type TrackingRecord, trackingRecord } from './tracking.ts';
import { DEFAULT_WARMUP_STEPS, setWarmup, type Warmup, warmupsOf } from './warmup.ts';

const VerificationStatus = builder.enumType('VerificationStatus', {
  description: 'The verification status of one part of a domain.',
  values: {
    pending: { description: 'Not seen yet.' },
    verified: { description: 'Seen, and right.' },
    failing: { description: 'No longer verified; mail can still be sent for three days.' },
    failed: {
      description: 'Not found for 72 hours after it was added, or missing for three days. Still checked daily.',
    },
  },
});

const Record = builder.objectRef<RecordState | TrackingRecord>('DnsRecord').implement({
  description: 'A DNS record to publish.',
  fields: (t) => ({
    purpose: t.exposeString('purpose', { description: 'Its purpose: `dkim`, `mailFrom`, `dmarc` or `tracking`.' }),
    type: t.exposeString('type', { description: 'Record type, such as TXT.' }),
    name: t.exposeString('name', { description: 'Full name of the record.' }),
    value: t.exposeString('value', { description: 'What to publish.' }),
    status: t.expose('status', { type: VerificationStatus, description: 'The status at the last check.' }),
    found: t.exposeStringList('found', { description: 'The values found at the name; empty if there are none.' }),
    note: t.exposeString('note', { nullable: true, description: 'A problem with the record, or a hint.' }),
  }),
});

const Severity = builder.enumType('RecommendationSeverity', {
  description: 'How much delivery suffers, most severe first.',
  values: {
    high: { description: 'Mail is rejected or filtered as spam.' },
    medium: { description: 'Some providers are likely to filter mail.' },
    low: { description: 'Delivery is slightly less reliable.' },
    info: { description: 'A missed opportunity; delivery does not suffer.' },
  } satisfies Record<Recommendation['severity'], { description: string }>,
});

const RecommendedRecord = builder.objectRef<NonNullable<Recommendation['record']>>('RecommendedRecord').implement({
  description: 'A DNS record that would settle a recommendation.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Record type, such as TXT.' }),
    name: t.exposeString('name', { description: 'Full name of the record.' }),
    value: t.exposeString('value', { description: 'The value to publish in place of the current one.' }),
  }),
});

const DomainRecommendation = builder.objectRef<Recommendation>('DomainRecommendation').implement({
  description: 'A recommended change to the DNS of a domain.',
  fields: (t) => ({
    code: t.exposeString('id', { description: 'The code of the recommendation, such as `dmarc_missing`.' }),
    id: t.exposeString('id', {
      description: 'The code of the recommendation, such as `dmarc_missing`.',
      deprecationReason: 'Use DomainRecommendation.code.',
    }),
    severity: t.expose('severity', { type: Severity, description: 'How much it affects delivery.' }),
    title: t.exposeString('title', { description: 'What to do.' }),
    detail: t.exposeString('detail', { description: 'Why.' }),
    record: t.expose('record', {
      type: RecommendedRecord,
      nullable: true,
      description: 'The record to publish, if one fixes it.',
    }),
  }),
});

const Provider = builder.objectRef<DnsProvider>('DnsProvider').implement({
  description: "The provider of a domain's name servers.",
  fields: (t) => ({
    code: t.exposeString('id', { description: 'Provider code, such as `cloudflare`.' }),
    id: t.exposeString('id', {
      description: 'Provider code, such as `cloudflare`.',
      deprecationReason: 'Use DnsProvider.code.',
    }),
    name: t.exposeString('name', { description: 'Display name.' }),
    editorUrl: t.exposeString('editorUrl', { description: 'The page where its records are edited.' }),
  }),
});

builder.prismaObject('LifecycleEvent', {
  description: "An event in a domain's lifecycle.",
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'Time of the event.' }),
    type: t.exposeString('type', {
      description: 'Such as `added`, `verified`, `failing`, `failed`, `checkRequested`.',
    }),
    part: t.exposeString('part', {
      description: '`dkim`, `mailFrom`, `dmarc`, `tracking`, or `domain` for the whole.',
    }),
    actor: t.exposeString('actor', { description: 'A user id, `system` or `operator`.' }),
    actorName: t.string({
      nullable: true,
      description: 'The current name of the user; null for others.',
      ...atMost(MAX_NAME_LENGTH),
      resolve: ({ actor }) => (isId('usr', actor) ? actorName(actor) : null),
    }),
    detail: t.exposeString('detail', { description: 'Description of the event.' }),
  }),
});

const Domain = builder.prismaObject('Domain', {
  interfaces: [Node],
  description: 'A domain that a project sends from. Read-only for API keys.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Domain id.' }),
    domain: t.exposeString('domain', { description: 'Domain name, as in DNS.', ...atMost(MAX_DOMAIN_LENGTH) }),
    unicodeName: t.string({
      description: 'Domain name for people: that of an internationalized domain in Unicode, such as `bücher.example`.',
      ...atMost(MAX_DOMAIN_LENGTH),
      select: { domain: true },
      resolve: ({ domain }) => unicodeDomain(domain),
    }),
    verifiedForSending: t.exposeBoolean('verifiedForSending', { description: 'Whether mail may be sent from it now.' }),
    verification: t.expose('verification', { type: VerificationStatus, description: 'The whole domain.' }),
    dkim: t.expose('dkim', { type: VerificationStatus, description: 'The DKIM keys.' }),
    mailFrom: t.expose('mailFrom', { type: VerificationStatus, description: 'The MAIL FROM subdomain.' }),
    dmarc: t.expose('dmarc', { type: VerificationStatus, description: 'The DMARC policy.' }),
    region: t.exposeString('region', { description: 'Sending region.' }),
    mailFromDomain: t.exposeString('mailFromDomain', {
      nullable: true,
      description: 'The subdomain that receives bounces; null for a development domain.',
    }),
    trackingDomain: t.exposeString('trackingDomain', {
      nullable: true,
      description: "The host of tracking links while its record is verified; null for the gateway's host.",
    }),
    trackingRecord: t.field({
      type: Record,
      nullable: true,
      description: 'The record to publish for that host; null without one.',
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
      description: 'Open deliverability recommendations, most severe first.',
      select: { recommendations: true },
      resolve: (domain) => domain.recommendations as unknown as Recommendation[],
    }),
    dnsProvider: t.field({
      type: Provider,
      nullable: true,
      description: 'The detected DNS provider.',
      select: { dnsProvider: true, domain: true, zone: true },
      resolve: ({ dnsProvider, domain, zone }) =>
        dnsProvider === null ? null : providerFor(dnsProvider, zone ?? domain),
    }),
    zone: t.exposeString('zone', {
      nullable: true,
      description: "The domain's zone: itself or an ancestor; null before the first check.",
    }),
    workflowUrl: t.string({
      nullable: true,
      description: 'Its verification in the Temporal UI; null if the URL of the UI is not configured.',
      resolve: ({ id }) => workflowUrl(id),
    }),
    nameservers: t.exposeStringList('nameservers', { description: 'The name servers of its zone.' }),
    lifecycle: t.relation('lifecycle', {
      description: 'Lifecycle events, newest first; at most the last 200.',
      query: { orderBy: { id: 'desc' }, take: 200 },
    }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', nullable: true, description: 'When it was last checked.' }),
    nextCheckAt: t.expose('nextCheckAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it will be checked next.',
    }),
    blockedAt: t.expose('blockedAt', { type: 'DateTime', nullable: true, description: 'When an operator blocked it.' }),
    blockedReason: t.exposeString('blockedReason', { nullable: true, description: 'Why it was blocked.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Creation time.' }),
  }),
});

const DomainWarmup = builder.objectRef<Warmup>('DomainWarmup').implement({
  description: 'Warm-up of a domain: a daily limit for campaign messages that grows each day.',
  fields: (t) => ({
    steps: t.exposeIntList('steps', {
      description: 'Messages allowed on the first, second, … day with mail. After the last day the limit ends.',
    }),
    since: t.expose('since', { type: 'DateTime', description: 'The first day, in UTC.' }),
    step: t.exposeInt('step', { description: "Today's step, counted from 1." }),
    isWarm: t.exposeBoolean('isWarm', { description: 'Whether all steps are done.' }),
    todayLimit: t.exposeInt('todayLimit', {
      nullable: true,
      description: 'Messages allowed today; null when all steps are done.',
    }),
    todaySent: t.exposeInt('todaySent', { description: 'Messages sent today.' }),
  }),
});

const loadWarmup = batchLoader((_: Context, ids) => warmupsOf(ids));

builder.prismaObjectField('Domain', 'warmup', (t) =>
  t.field({
    type: DomainWarmup,
    nullable: true,
    description: 'Its warm-up; null without one.',
    select: { id: true },
    resolve: ({ id }, _args, context) => loadWarmup(context, id),
  }),
);

registerNode(
  'dom',
  'Domain',
  (context, ids) => db.domain.findMany({ where: { projectId: callerProject(context), id: { in: ids } } }),
  'read',
  {
    select: `SELECT id, domain, tracking_domain AS "trackingDomain", warmup_steps AS "warmupSteps",
        warmup_since::text AS "warmupSince" FROM domains WHERE id = ANY ($1::text[]) AND project_id = $2`,
    of: ({ id: _, domain, ...values }: { id: string; domain: string }) => ({ name: domain, values }),
  },
);

builder.queryFields((t) => ({
  domain: t.prismaField({
    type: Domain,
    description: 'A domain of the project by its name; `not_found` if the project does not have it.',
    args: { domain: t.arg.string({ required: true, description: 'Domain name.', ...atMost(MAX_DOMAIN_LENGTH) }) },
    resolve: (query, _root, { domain }, context) => getDomain(callerProject(context), domain, query),
  }),
  defaultWarmupSteps: t.intList({
    description: 'A warm-up that suits most domains: messages on the first, second, … day.',
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
    description: 'The current domain, then the domain after each check, until it is removed.',
    args: { id: t.arg.id({ required: true, description: 'Domain id.' }) },
    subscribe: (_root, { id }, context) => watchDomain(callerProject(context), id),
    resolve: (domain) => domain,
  }),
);

const AddDomainInput = builder.inputType('AddDomainInput', {
  description: 'A domain to send from.',
  fields: (t) => ({
    domain: t.string({ required: true, description: 'Its name, such as `mail.example.com`.' }),
    mailFromLabel: t.string({ description: 'The label of the subdomain that receives bounces; default: `bounce`.' }),
  }),
});

const PublishingAction = builder.enumType('PublishingAction', {
  description: 'The action that publishing takes for a record.',
  values: {
    create: { description: 'It is added.' },
    replace: { description: 'It replaces one that Postroom published before.' },
    keep: { description: 'It already exists.' },
    conflict: { description: 'Another record is in its place and is left unchanged.' },
  },
});

const PublishedRecord = builder.objectRef<DnsRecord>('PublishedRecord').implement({
  description: 'A published DNS record.',
  fields: (t) => ({
    purpose: t.exposeString('purpose', { description: 'Its purpose: `dkim`, `mailFrom` or `dmarc`.' }),
    type: t.exposeString('type', { description: 'Record type, such as TXT.' }),
    name: t.exposeString('name', { description: 'Full name of the record.' }),
    value: t.exposeString('value', { description: 'Its value.' }),
  }),
});

const PublishingStep = builder.objectRef<Step>('PublishingStep').implement({
  description: 'A record, and the action that publishing takes for it.',
  fields: (t) => ({
    action: t.expose('action', { type: PublishingAction, description: 'The action.' }),
    record: t.expose('record', { type: PublishedRecord, description: 'The record.' }),
    existing: t.exposeStringList('existing', { description: 'The existing records of its kind.' }),
    reason: t.exposeString('reason', { description: 'The reason for the action.' }),
  }),
});

const DnsPublication = builder.objectRef<Publication>('DnsPublication').implement({
  description: "The result of publishing a domain's records, or of a dry run.",
  fields: (t) => ({
    zone: t.exposeString('zone', { description: 'The zone at the provider.' }),
    dryRun: t.exposeBoolean('dryRun', { description: 'Whether this was a dry run, which changes nothing.' }),
    steps: t.expose('steps', { type: [PublishingStep], description: 'The action for each record.' }),
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
  description: 'Where to publish. The credentials are used once and not stored.',
  fields: (t) => ({
    cloudflare: t.field({ type: CloudflareInput, description: 'Access to Cloudflare.' }),
    route53: t.field({ type: Route53Input, description: 'Access to Amazon Route 53.' }),
    dryRun: t.boolean({ defaultValue: true, description: 'Only reports what would be done; default: true.' }),
  }),
});

builder.mutationFields((t) => ({
  addDomain: t.prismaField({
    ...managersOnly,
    type: Domain,
    description:
      'Adds a domain, which can send once its records are published. `conflict` if the project already has it.',
    args: { input: t.arg({ type: AddDomainInput, required: true, description: 'The domain.' }) },
    resolve: async (query, _root, { input }, context) => {
      const { id } = await addDomain(callerProject(context), input, authenticated(context).id);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  checkDomain: t.prismaField({
    ...managersOnly,
    type: Domain,
    description: 'Checks a domain now; the results follow within seconds.',
    args: { id: t.arg.id({ required: true, description: 'Domain id.' }) },
    resolve: async (query, _root, { id }, context) => {
      await requestCheck(callerProject(context), id, authenticated(context).id);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  setTrackingDomain: t.prismaField({
    ...managersOnly,
    type: Domain,
    description:
      "Sets the host of tracking links in the domain's mail, used once its record is verified. It must be a CNAME for the gateway's host and serve https.",
    args: {
      id: t.arg.id({ required: true, description: 'Domain id.' }),
      host: t.arg.string({ description: "A subdomain of the domain; null for the gateway's own." }),
    },
    resolve: async (query, _root, { id, host }, context) => {
      await setTrackingDomain(callerProject(context), id, host ?? null, authenticated(context).id);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  setDomainWarmup: t.prismaField({
    ...managersOnly,
    type: Domain,
    description:
      "Starts a domain's warm-up today, or removes it with null. When a day's limit is used up, campaigns wait for the next day.",
    args: {
      id: t.arg.id({ required: true, description: 'Domain id.' }),
      steps: t.arg.intList({
        description: 'Messages on the first, second, … day: 1 to 90 numbers in ascending order.',
      }),
    },
    resolve: async (query, _root, { id, steps }, context) => {
      await setWarmup(callerProject(context), id, steps ?? null);
      return db.domain.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
  publishDomainRecords: t.field({
    ...managersOnly,
    type: DnsPublication,
    description:
      "Publishes a domain's records at its DNS provider. Records of others are never changed; they are reported as conflicts.",
    args: {
      id: t.arg.id({ required: true, description: 'Domain id.' }),
      input: t.arg({ type: PublishInput, required: true, description: 'The provider and its credentials.' }),
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
  description: 'Removes a domain with its keys. Mail from it is rejected from then on.',
  id: 'Domain id.',
  ...managersOnly,
  remove: (context, id) => removeDomain(callerProject(context), id),
});
