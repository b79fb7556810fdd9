import {
  config,
  conflictIfTaken,
  db,
  DomainError,
  invalid,
  newId,
  notFound,
  type Page,
  type PageArgs,
  type Prisma,
  readRows,
  type RowsQuery,
  signalWorkflow,
  startWorkflow,
} from '@postroom/platform';
import { createDkimKey } from './dkim/keys.ts';
import { domainProblem, labelProblem, normalizeDomain } from './domain-name.ts';
import { recordLifecycle } from './lifecycle.ts';
import { announceDomain } from './subscription.ts';
import { recordsToPublish } from './records.ts';
import { sendingSetup } from './sending-setup.ts';
import { maySend } from './status.ts';

type Domain = Prisma.DomainModel;

export interface AddDomainInput {
  domain: string;
  /** The label of the subdomain that bounces go to; `bounce` unless given. */
  mailFromLabel?: string | null | undefined;
}

/**
 * Adds a domain: its DKIM key and the records to publish. Its verification starts at once.
 * @param actor the id of the person who does it.
 * @throws DomainError `validation_error` for what is not a domain name, `conflict` when the project has it.
 */
export async function addDomain(projectId: string, input: AddDomainInput, actor: string): Promise<Domain> {
  const data = await newDomain(projectId, input);
  return db.$transaction(async (tx) => {
    const added = await insertDomain(tx, data, actor);
    await startVerification(tx, added);
    return added;
  });
}

/** The row of a domain that is to be added; made before the transaction, since a key takes a tenth of a second. */
export async function newDomain(projectId: string, input: AddDomainInput) {
  const domain = checkedDomain(input.domain);
  const mailFromDomain = `${checkedLabel(input.mailFromLabel ?? 'bounce')}.${domain}`;
  const id = newId('dom');
  const { region, mx, spf } = sendingSetup();
  const { selector, publicKey, privateKey } = await createDkimKey(id);
  const records = recordsToPublish({ domain, mailFromDomain, selector, publicKey, mx, spf }) as object[];
  return { id, projectId, domain, mailFromDomain, region, records, keys: { create: { selector, privateKey } } };
}

/** Adds the row, without asking for its verification. */
export async function insertDomain(
  tx: Prisma.TransactionClient,
  data: Awaited<ReturnType<typeof newDomain>>,
  actor: string,
): Promise<Domain> {
  const added = await tx.domain.create({ data }).catch(taken(data.domain));
  const event = { type: 'added', part: 'domain', actor, detail: `${added.domain} was added.` } as const;
  await recordLifecycle(tx, added.id, [event]);
  return added;
}

type Watched = Pick<Domain, 'id' | 'projectId' | 'domain'>;

/** Asks for the workflow of a domain; where it runs already, nothing changes. */
export async function startVerification(tx: Prisma.TransactionClient, domain: Watched): Promise<void> {
  await startWorkflow(tx, verificationOf(domain));
}

/** The workflow that looks at a domain for as long as it is there. */
export function verificationOf({ id, projectId, domain }: Watched): Parameters<typeof startWorkflow>[1] {
  return {
    workflowId: id,
    type: 'verifyDomain',
    args: [id],
    summary: `Verification of ${domain}`.slice(0, 200),
    details:
      'Looks for the DNS records of a sending domain: often at first, then daily. The signal `checkNow` looks at once.',
    searchAttributes: { projectId },
  };
}

/**
 * Removes a domain with its keys. What is published in DNS stays, and mail from it is refused from now on.
 * @throws DomainError `not_found`.
 */
export async function removeDomain(projectId: string, id: string): Promise<void> {
  await db.$transaction(async (tx) => {
    const { count } = await tx.domain.deleteMany({ where: { id, projectId } });
    if (count === 0) throw notFound('domain');
    await announceDomain(tx, id);
    // Its workflow looks, finds the domain gone, and ends.
    await signalWorkflow(tx, { workflowId: id, signal: 'checkNow' });
  });
}

/**
 * Has a domain looked up now, instead of when it is due.
 * @throws DomainError `not_found`; `conflict` for a domain that is never looked up.
 */
export async function requestCheck(projectId: string, id: string, actor: string): Promise<void> {
  await db.$transaction(async (tx) => {
    const domain = await tx.domain.findFirst({ where: { id, projectId } });
    if (domain === null) throw notFound('domain');
    if (domain.mailFromDomain === null) {
      throw new DomainError('conflict', 'This domain was added for development: no DNS is asked about it.');
    }
    const event = { type: 'checkRequested', part: 'domain', actor, detail: 'A check was asked for.' } as const;
    await recordLifecycle(tx, id, [event]);
    // Also brings back a workflow that was lost with the data of a Temporal server.
    await startVerification(tx, domain);
    await signalWorkflow(tx, { workflowId: id, signal: 'checkNow' });
  });
}

/**
 * Sets the host that tracking links of a domain's mail begin with once its record is seen; null takes it away. Mail that has
 * gone out keeps the links it has.
 * @throws DomainError `not_found`; `validation_error` for what is not a host below the domain.
 */
export async function setTrackingDomain(
  projectId: string,
  id: string,
  host: string | null,
  actor: string,
): Promise<void> {
  await db.$transaction(async (tx) => {
    const domain = await tx.domain.findFirst({ where: { id, projectId } });
    if (domain === null) throw notFound('domain');
    const trackingDomain = host === null ? null : normalizeDomain(host);
    if (trackingDomain !== null) checkTrackingDomain(trackingDomain, domain);
    if (trackingDomain === domain.trackingDomain) return;
    // No DNS is asked about a domain of development, nor about its hosts.
    const isLocal = domain.mailFromDomain === null;
    const { tracking: _, ...memory } = domain.memory as { tracking?: unknown };
    const tracking = isLocal ? ('verified' as const) : ('pending' as const);
    await tx.domain.update({ where: { id }, data: { trackingDomain, tracking, trackingSince: new Date(), memory } });
    const detail =
      trackingDomain === null
        ? 'Links begin with our own host again.'
        : `Links begin with ${trackingDomain}${isLocal ? '' : ' as soon as its record is seen'}.`;
    await recordLifecycle(tx, id, [{ type: 'trackingDomainSet', part: 'tracking', actor, detail }]);
    await announceDomain(tx, id);
    if (isLocal) return;
    await startVerification(tx, domain);
    await signalWorkflow(tx, { workflowId: id, signal: 'checkNow' });
  });
}

/** A host of somebody else's would let a project put its links under their name. */
function checkTrackingDomain(host: string, { domain, mailFromDomain }: Domain): void {
  const isBelow = domainProblem(host) === undefined && host.endsWith(`.${domain}`);
  if (!isBelow) throw invalid({ field: 'host', message: `must be a host below ${domain}, such as links.${domain}` });
  if (host === new URL(config.PUBLIC_URL).hostname)
    throw invalid({ field: 'host', message: 'is the host of this installation, whose links need no tracking host' });
  if (host === mailFromDomain) throw invalid({ field: 'host', message: 'is where bounces come back to' });
}

/** The project's sending domains, newest first (spec: Domains). */
export async function listDomains(projectId: string, args: PageArgs, query: RowsQuery = {}): Promise<Page<Domain>> {
  return readRows(db.domain, 'dom', args, { projectId }, query);
}

/** A domain of the project by its name, or `not_found` when the domain is not in the project (spec: Domains). */
export async function getDomain(projectId: string, name: string, query: RowsQuery = {}): Promise<Domain> {
  const domain = await db.domain.findFirst({ ...query, where: { projectId, domain: normalizeDomain(name) } });
  if (domain === null) throw notFound('domain');
  return domain;
}

/**
 * Adds a domain that may be sent from at once, for development and tests: no DNS is asked, and mail goes to the inbox.
 * @throws DomainError `validation_error` for what is not a domain name, `conflict` when the project has it.
 */
export async function addLocalDomain(projectId: string, name: string): Promise<Domain> {
  const domain = checkedDomain(name);
  const verified = { verification: 'verified', dkim: 'verified', mailFrom: 'verified', dmarc: 'verified' } as const;
  const added = {
    type: 'added',
    part: 'domain',
    actor: 'system',
    detail: 'Added for development and taken as verified; no DNS is asked.',
  };
  const lifecycle = { create: added };
  return db.domain
    .create({ data: { id: newId('dom'), projectId, domain, verifiedForSending: true, ...verified, lifecycle } })
    .catch(taken(domain));
}

/**
 * Stops all mail from a domain, in every project that has it; for operators, such as after complaints.
 * @returns how many projects had it unblocked.
 */
export async function blockDomain(name: string, reason: string): Promise<number> {
  return setBlocked(
    { domain: normalizeDomain(name), blockedAt: null },
    { blockedAt: new Date(), blockedReason: reason },
    reason,
  );
}

/** Lets mail from a blocked domain out again, where it is verified; returns how many projects had it blocked. */
export async function unblockDomain(name: string): Promise<number> {
  const blocked = { domain: normalizeDomain(name), blockedAt: { not: null } };
  return setBlocked(blocked, { blockedAt: null, blockedReason: null }, 'The block was lifted.');
}

async function setBlocked(
  where: Prisma.DomainWhereInput,
  block: { blockedAt: Date | null; blockedReason: string | null },
  detail: string,
): Promise<number> {
  const type = block.blockedAt === null ? 'unblocked' : 'blocked';
  return db.$transaction(async (tx) => {
    const domains = await tx.domain.findMany({ where });
    for (const { id, verification } of domains) {
      const verifiedForSending = maySend(verification, block.blockedAt);
      await tx.domain.update({ where: { id }, data: { ...block, verifiedForSending } });
      await recordLifecycle(tx, id, [{ type, part: 'domain', actor: 'operator', detail }]);
      await announceDomain(tx, id);
    }
    return domains.length;
  });
}

function checkedDomain(name: string): string {
  const domain = normalizeDomain(name);
  const problem = domainProblem(domain);
  if (problem !== undefined) throw invalid({ field: 'domain', message: problem });
  return domain;
}

function checkedLabel(label: string): string {
  const lower = label.trim().toLowerCase();
  const problem = labelProblem(lower);
  if (problem !== undefined) throw invalid({ field: 'mailFromLabel', message: problem });
  return lower;
}

const taken = (domain: string) => conflictIfTaken(`The domain ${domain} is in this project already.`);
