import type { List } from './list.ts';
import { type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { Domain, DomainDetail, Project } from './types.ts';

export class Projects extends Resource {
  /** The projects that the key can access. */
  list(options?: RequestOptions): Promise<Project[]> {
    return this.data('listProjects', {}, options);
  }
}

/** Sending domains are read-only here: users add and verify them in the dashboard. */
export class Domains extends Resource {
  list(projectId: string, query: Query<'listDomains'> = {}, options?: RequestOptions): List<Domain> {
    return this.listOf('listDomains', { path: { id: projectId }, query }, options);
  }

  /** A domain by name, with the DNS records to publish. */
  get(projectId: string, domain: string, options?: RequestOptions): Promise<DomainDetail> {
    return this.data('getDomain', { path: { id: projectId, domain } }, options);
  }
}
