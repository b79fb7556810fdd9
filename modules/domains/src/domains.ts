import { domainToASCII } from 'node:url';
import {
  conflictIfTaken,
  db,
  invalid,
  isId,
  newId,
  notFound,
  type Page,
  type PageArgs,
  type Prisma,
  readPage,
  type RowsQuery,
} from '@postroom/platform';

type Domain = Prisma.DomainModel;

/** A DNS record to publish (spec: Domain). */
export interface DnsRecord {
  purpose: string;
  type: string;
  name: string;
  value: string;
}

/** The project's sending domains, newest first (spec: Domains). */
export async function listDomains(projectId: string, args: PageArgs, query: RowsQuery = {}): Promise<Page<Domain>> {
  return readPage('dom', args, ({ limit, before }) =>
    db.domain.findMany({
      ...query,
      where: { projectId, ...(before === undefined ? {} : { id: { lt: before } }) },
      orderBy: { id: 'desc' },
      take: limit,
    }),
  );
}

/** A domain of the project by its name, or `not_found` when the domain is not in the project (spec: Domains). */
export async function getDomain(projectId: string, name: string, query: RowsQuery = {}): Promise<Domain> {
  const domain = await db.domain.findFirst({ ...query, where: { projectId, domain: normalizeDomain(name) } });
  if (domain === null) throw notFound('domain');
  return domain;
}

/** A domain by its id; for `node`. */
export async function findDomain(projectId: string, id: string): Promise<Domain | null> {
  return isId('dom', id) ? db.domain.findFirst({ where: { id, projectId } }) : null;
}

/** Lower case, without a trailing dot, in ASCII: one form for each domain. Empty when it is not a host name. */
export function normalizeDomain(name: string): string {
  return domainToASCII(name.trim().replace(/\.$/, '')).toLowerCase();
}

/**
 * Why mail from this address may not be sent now; undefined when it may. A domain is asked at each send, since one that
 * was verified may have lost its records (spec: Campaign).
 */
export async function senderProblem(projectId: string, fromEmail: string): Promise<string | undefined> {
  const name = normalizeDomain(fromEmail.slice(fromEmail.lastIndexOf('@') + 1));
  const domain = await db.domain.findUnique({ where: { projectId_domain: { projectId, domain: name } } });
  if (domain === null) return `The domain ${name} is not a sending domain of this project.`;
  if (domain.blockedAt !== null) return `The domain ${name} has been blocked.`;
  if (!domain.verifiedForSending) return `The domain ${name} is not verified for sending.`;
  return undefined;
}

/**
 * Adds a domain that may be sent from at once, for development and tests: no DNS is asked, and mail goes to the inbox.
 * @throws DomainError `validation_error` for what is not a domain name, `conflict` when the project has it.
 */
export async function addLocalDomain(projectId: string, name: string): Promise<Domain> {
  const domain = normalizeDomain(name);
  if (!/^(?=.{4,253}$)([a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}$/.test(domain)) {
    throw invalid({ field: 'domain', message: 'must be a domain name such as mail.example.com' });
  }
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
    .catch(conflictIfTaken(`The domain ${domain} is in this project already.`));
}
