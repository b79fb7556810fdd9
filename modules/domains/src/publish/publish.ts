import { db, DomainError, invalid, notFound, signalWorkflow } from '@postroom/platform';
import { recordsOf } from '../check.ts';
import { startVerification } from '../domains.ts';
import { recordLifecycle } from '../lifecycle.ts';
import { cloudflare, type CloudflareCredentials } from './cloudflare.ts';
import { plan, type Publisher, type Step } from './plan.ts';
import { route53, type Route53Credentials } from './route53.ts';

/** The provider to publish to. Credentials are used once and never stored. */
export interface PublishInput {
  cloudflare?: CloudflareCredentials | null | undefined;
  route53?: Route53Credentials | null | undefined;
}

/** Base URLs of the providers' APIs, overridden in tests. */
export interface ProviderUrls {
  cloudflare?: string;
  route53?: string;
}

export interface Publication {
  /** The zone at the provider. */
  zone: string;
  /** Whether nothing was changed. */
  dryRun: boolean;
  steps: Step[];
}

/**
 * Publishes a domain's records at its DNS provider; with `dryRun`, only plans it. A record that is not ours is never
 * changed: it is reported as a conflict, and the others are published.
 * @throws DomainError `not_found`; `validation_error` if the credentials are rejected; `conflict` if the domain has
 * not been checked yet or the provider does not have its zone.
 */
export async function publishRecords(
  projectId: string,
  id: string,
  { dryRun, actor, urls = {}, ...input }: PublishInput & { dryRun: boolean; actor: string; urls?: ProviderUrls },
): Promise<Publication> {
  const domain = await db.domain.findFirst({ where: { id, projectId } });
  if (domain === null) throw notFound('domain');
  if (domain.nameservers.length === 0) {
    throw new DomainError('conflict', 'The name servers of the domain are not known yet. Check the domain first.');
  }
  const publisher = await publisherFor(input, id, urls);
  const zone = await publisher.open(domain.domain, domain.nameservers);
  const steps = await plan(zone, recordsOf(domain));
  const changes = steps.filter(({ action }) => action === 'create' || action === 'replace');
  if (dryRun || changes.length === 0) return { zone: zone.apex, dryRun, steps };
  await zone.apply(changes);
  await db.$transaction(async (tx) => {
    const detail = `${changes.length} ${changes.length === 1 ? 'record was' : 'records were'} published at ${publisher.name}.`;
    await recordLifecycle(tx, id, [{ type: 'published', part: 'domain', actor, detail }]);
    await startVerification(tx, domain);
    await signalWorkflow(tx, { workflowId: id, signal: 'checkNow' });
  });
  return { zone: zone.apex, dryRun, steps };
}

async function publisherFor(input: PublishInput, mark: string, urls: ProviderUrls): Promise<Publisher> {
  if (input.cloudflare != null && input.route53 == null) {
    return cloudflare(input.cloudflare, mark, { baseURL: urls.cloudflare });
  }
  if (input.route53 != null && input.cloudflare == null) {
    return route53(input.route53, mark, { endpoint: urls.route53 });
  }
  throw invalid({ field: 'input', message: 'must contain the credentials of exactly one provider' });
}
