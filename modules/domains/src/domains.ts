import {
  checkLimit,
  config,
  conflictIfTaken,
  databaseTime,
  db,
  DomainError,
  invalid,
  lockUntilCommit,
  newId,
  notFound,
  normalizeDomain,
  oneLineProblem,
  type Page,
  type PageArgs,
  type Prisma,
  readRows,
  type RowsQuery,
  signalWorkflow,
  sql,
  startWorkflow,
} from '@postroom/platform';
import { createDkimKey } from './dkim/keys.ts';
import { domainProblem, labelProblem } from './domain-name.ts';
import { recordLifecycle } from './lifecycle.ts';
import { announceDomain } from './subscription.ts';
import { recordsToPublish } from './records.ts';
import { sendingSetup } from './sending-setup.ts';
import { maySend } from './status.ts';

type Domain = Prisma.DomainModel;

export interface AddDomainInput {
  domain: string;
  /** Label of the subdomain that receives bounces; defaults to `bounce`. */
  mailFromLabel?: string | null | undefined;
}

/** Each is checked in DNS for as long as it exists. */
const MAX_DOMAINS = 200;
/** Maximum length of the reason for a block, in characters. */
const MAX_REASON_LENGTH = 500;

/**
 * Adds a domain with a DKIM key and the records to publish, and starts its verification.
 * @param actor id of the acting user.
 * @throws DomainError `validation_error` for an invalid domain name, `conflict` if the project already has it, or too many.
 */
export async function addDomain(projectId: string, input: AddDomainInput, actor: string): Promise<Domain> {
  const data = await newDomain(projectId, input);
  return db.$transaction(async (tx) => {
    const added = await insertDomain(tx, data, actor);
    const limit = { of: projectId, rows: 'sending domains', max: MAX_DOMAINS };
    await checkLimit(tx, limit, () => tx.domain.count({ where: { projectId } }));
    await startVerification(tx, added);
    return added;
  });
}

/** Builds the row of a new domain. Call it before the transaction, because generating a key takes about 100 ms. */
export async function newDomain(projectId: string, input: AddDomainInput) {
  const domain = requireDomainName(input.domain);
  const mailFromDomain = `${requireLabel(input.mailFromLabel ?? 'bounce')}.${domain}`;
  const id = newId('dom');
  const { region, mx, spf } = sendingSetup();
  const { selector, publicKey, privateKey } = await createDkimKey(id);
  const records = recordsToPublish({ domain, mailFromDomain, selector, publicKey, mx, spf }) as object[];
  return { id, projectId, domain, mailFromDomain, region, records, keys: { create: { selector, privateKey } } };
}

/** Inserts the row without starting its verification. It is blocked if an operator has blocked the domain. */
export async function insertDomain(
  tx: Prisma.TransactionClient,
  data: Awaited<ReturnType<typeof newDomain>>,
  actor: string,
): Promise<Domain> {
  await lockBlocks(tx, data.domain);
  const block = await blockOf(tx, data.domain);
  const added = await tx.domain.create({ data: { ...data, ...block } }).catch(domainTaken(data.domain));
  await recordLifecycle(tx, added.id, [
    { type: 'added', part: 'domain', actor, detail: `${added.domain} was added.` },
    ...(block === null
      ? []
      : [{ type: 'blocked', part: 'domain', actor: 'operator', detail: block.blockedReason ?? '' } as const]),
  ]);
  return added;
}

/** The block of a domain. A project that was moved from another cell may have brought one from there. */
async function blockOf(tx: Prisma.TransactionClient, domain: string) {
  const block = await tx.domainBlock.findUnique({ where: { domain } });
  if (block !== null) return { blockedAt: block.blockedAt, blockedReason: block.reason };
  const where = { domain, blockedAt: { not: null } };
  return tx.domain.findFirst({ where, select: { blockedAt: true, blockedReason: true } });
}

type VerifiableDomain = Pick<Domain, 'id' | 'projectId' | 'domain'>;

/** Starts a domain's verification workflow, unless it is already running. */
export async function startVerification(tx: Prisma.TransactionClient, domain: VerifiableDomain): Promise<void> {
  await startWorkflow(tx, verificationOf(domain));
}

/** The workflow that checks a domain for as long as it exists. */
export function verificationOf({ id, projectId, domain }: VerifiableDomain): Parameters<typeof startWorkflow>[1] {
  return {
    workflowId: id,
    type: 'verifyDomain',
    args: [id],
    summary: `Verification of ${domain}`.slice(0, 200),
    details:
      'Checks the DNS records of a sending domain, frequently at first, then daily. The signal `checkNow` triggers a check.',
    searchAttributes: { projectId },
    restartable: true,
  };
}

/**
 * Removes a domain and its keys. Published DNS records stay; mail from the domain is rejected from now on.
 * @throws DomainError `not_found`; `forbidden` for a blocked domain.
 */
export async function removeDomain(projectId: string, id: string): Promise<void> {
  await db.$transaction(async (tx) => {
    const { count } = await tx.domain.deleteMany({ where: { id, projectId, blockedAt: null } });
    if (count === 0) {
      if ((await tx.domain.count({ where: { id, projectId } })) === 0) throw notFound('domain');
      throw new DomainError('forbidden', 'The operator of this installation has blocked the domain, so it stays.');
    }
    await announceDomain(tx, id);
    // The workflow's check finds the domain gone and ends it.
    await signalWorkflow(tx, { workflowId: id, signal: 'checkNow' });
  });
}

/**
 * Triggers a check of a domain now.
 * @throws DomainError `not_found`; `conflict` for a local development domain, which is never checked.
 */
export async function requestCheck(projectId: string, id: string, actor: string): Promise<void> {
  await db.$transaction(async (tx) => {
    const domain = await tx.domain.findFirst({ where: { id, projectId } });
    if (domain === null) throw notFound('domain');
    if (domain.mailFromDomain === null) {
      throw new DomainError('conflict', 'This is a development domain. Its DNS is never checked.');
    }
    const event = { type: 'checkRequested', part: 'domain', actor, detail: 'A check was requested.' } as const;
    await recordLifecycle(tx, id, [event]);
    // Also restarts a workflow that was terminated or lost.
    await startVerification(tx, domain);
    await signalWorkflow(tx, { workflowId: id, signal: 'checkNow' });
  });
}

/**
 * Sets the host for tracking links in a domain's mail, used once its DNS record is found; null removes it. Links in
 * mail already sent do not change.
 * @throws DomainError `not_found`; `validation_error` unless it is a subdomain of the domain.
 */
export async function setTrackingDomain(
  projectId: string,
  id: string,
  host: string | null,
  actor: string,
): Promise<void> {
  await db.$transaction(async (tx) => {
    // Both this and a check write what checks have found, so without the lock, a check that ends meanwhile would be overwritten.
    await sql(tx, 'SELECT FROM domains WHERE id = $1 FOR UPDATE', [id]);
    const domain = await tx.domain.findFirst({ where: { id, projectId } });
    if (domain === null) throw notFound('domain');
    const trackingDomain = host === null ? null : normalizeDomain(host);
    if (trackingDomain !== null) checkTrackingDomain(trackingDomain, domain);
    if (trackingDomain === domain.trackingDomain) return;
    // Development domains and their hosts are never looked up in DNS.
    const isLocal = domain.mailFromDomain === null;
    const { tracking: _, ...memory } = domain.memory as { tracking?: unknown };
    const tracking = isLocal ? ('verified' as const) : ('pending' as const);
    await tx.domain.update({
      where: { id },
      data: { trackingDomain, tracking, trackingSince: databaseTime(), memory },
    });
    const detail =
      trackingDomain === null
        ? 'Tracking links use the default host again.'
        : `Tracking links will use ${trackingDomain}${isLocal ? '' : ' once its record is verified'}.`;
    await recordLifecycle(tx, id, [{ type: 'trackingDomainSet', part: 'tracking', actor, detail }]);
    await announceDomain(tx, id);
    if (isLocal) return;
    await startVerification(tx, domain);
    await signalWorkflow(tx, { workflowId: id, signal: 'checkNow' });
  });
}

/** Without this check, a project could put its links under someone else's name. */
function checkTrackingDomain(host: string, { domain, mailFromDomain }: Domain): void {
  const isBelow = domainProblem(host) === undefined && host.endsWith(`.${domain}`);
  if (!isBelow) throw invalid({ field: 'host', message: `must be a subdomain of ${domain}, such as links.${domain}` });
  if (host === new URL(config.PUBLIC_URL).hostname)
    throw invalid({ field: 'host', message: 'is the host of this installation and needs no tracking record' });
  if (host === mailFromDomain) throw invalid({ field: 'host', message: 'is already used for bounces' });
}

/** The project's sending domains, newest first (spec: Domains). */
export async function listDomains(projectId: string, args: PageArgs, query: RowsQuery): Promise<Page<Domain>> {
  return readRows(db.domain, 'dom', args, { projectId }, query);
}

/**
 * Returns a domain of the project by name.
 * @throws DomainError `not_found` (spec: Domains).
 */
export async function getDomain(projectId: string, name: string, query: RowsQuery): Promise<Domain> {
  const domain = await db.domain.findFirst({ ...query, where: { projectId, domain: normalizeDomain(name) } });
  if (domain === null) throw notFound('domain');
  return domain;
}

/**
 * Adds a domain that can send at once, for development and tests: DNS is never checked, and its mail goes to the
 * inbox.
 * @throws DomainError `validation_error` for an invalid domain name, `conflict` if the project already has it.
 */
export async function addLocalDomain(projectId: string, name: string): Promise<Domain> {
  const domain = requireDomainName(name);
  const verified = { verification: 'verified', dkim: 'verified', mailFrom: 'verified', dmarc: 'verified' } as const;
  const added = {
    type: 'added',
    part: 'domain',
    actor: 'system',
    detail: 'Added for development and treated as verified; its DNS is not checked.',
  };
  const lifecycle = { create: added };
  return db.domain
    .create({ data: { id: newId('dom'), projectId, domain, verifiedForSending: true, ...verified, lifecycle } })
    .catch(domainTaken(domain));
}

/** What blocking or unblocking a domain changed. */
export interface BlockChange {
  /** False if it was blocked, or not, already. */
  isChanged: boolean;
  /** The number of projects that have the domain and where it was blocked or unblocked. */
  projects: number;
}

/**
 * Blocks all mail from a domain in every project that has it or adds it later. For operators, for example after complaints.
 * @throws DomainError `validation_error`.
 */
export async function blockDomain(name: string, reason: string): Promise<BlockChange> {
  const problem = reason.trim() === '' ? 'is required' : oneLineProblem(reason, MAX_REASON_LENGTH);
  if (problem !== undefined) throw invalid({ field: 'reason', message: problem });
  const block = { blockedAt: databaseTime(), blockedReason: reason.trim() };
  return changeBlock(name, block, async (tx, domain) => {
    const data = [{ domain, reason: block.blockedReason, blockedAt: block.blockedAt }];
    return (await tx.domainBlock.createMany({ data, skipDuplicates: true })).count;
  });
}

/**
 * Unblocks a domain, so that it can send again where it is verified.
 * @throws DomainError `validation_error`.
 */
export async function unblockDomain(name: string): Promise<BlockChange> {
  return changeBlock(
    name,
    { blockedAt: null, blockedReason: null },
    async (tx, domain) => (await tx.domainBlock.deleteMany({ where: { domain } })).count,
  );
}

async function changeBlock(
  name: string,
  block: { blockedAt: Date; blockedReason: string } | { blockedAt: null; blockedReason: null },
  write: (tx: Prisma.TransactionClient, domain: string) => Promise<number>,
): Promise<BlockChange> {
  const domain = requireDomainName(name);
  const blocks = block.blockedAt !== null;
  const event = { type: blocks ? 'blocked' : 'unblocked', part: 'domain', actor: 'operator' } as const;
  const detail = block.blockedReason ?? 'The block was lifted.';
  return db.$transaction(async (tx) => {
    await lockBlocks(tx, domain);
    const written = await write(tx, domain);
    const domains = await tx.domain.findMany({ where: { domain, blockedAt: blocks ? null : { not: null } } });
    for (const { id, verification } of domains) {
      const verifiedForSending = maySend(verification, block.blockedAt);
      await tx.domain.update({ where: { id }, data: { ...block, verifiedForSending } });
      await recordLifecycle(tx, id, [{ ...event, detail }]);
      await announceDomain(tx, id);
    }
    return { isChanged: written + domains.length > 0, projects: domains.length };
  });
}

/** A domain that is added while it is being blocked, or unblocked, gets the outcome. */
const lockBlocks = (tx: Prisma.TransactionClient, domain: string) => lockUntilCommit(tx, `blocks of ${domain}`);

function requireDomainName(name: string): string {
  const domain = normalizeDomain(name);
  const problem = domainProblem(domain);
  if (problem !== undefined) throw invalid({ field: 'domain', message: problem });
  return domain;
}

function requireLabel(label: string): string {
  const lower = label.trim().toLowerCase();
  const problem = labelProblem(lower);
  if (problem !== undefined) throw invalid({ field: 'mailFromLabel', message: problem });
  return lower;
}

const domainTaken = (domain: string) => conflictIfTaken('domain', `The domain ${domain} is already in this project.`);
