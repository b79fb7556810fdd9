import type { List } from './list.ts';
import { type Body, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { Template } from './types.ts';
export class Campaigns extends Resource {}
export class Emails extends Resource {}
export class Templates extends Resource {
  list(query: Query<'listTemplates'> = {}, options?: RequestOptions): List<Template> {
    return this.listOf('listTemplates', { query }, options);
  }

  /** Creates a template as a draft. */
  create(body: Body<'createTemplate'>, options?: RequestOptions): Promise<Template> {
    return this.data('createTemplate', { body }, options);
  }

  get(id: string, options?: RequestOptions): Promise<Template> {
    return this.data('getTemplate', { path: { id } }, options);
  }

  update(id: string, body: Body<'updateTemplate'>, options?: RequestOptions): Promise<Template> {
    return this.data('updateTemplate', { path: { id }, body }, options);
  }

  /** Makes a template ready to be sent. */
  publish(id: string, options?: RequestOptions): Promise<Template> {
    return this.data('publishTemplate', { path: { id } }, options);
  }

  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteTemplate', { path: { id } }, options);
  }
}
