import type { List } from './list.ts';
import { type Body, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { Form, FormDetail, FormSubmission } from './types.ts';

/** Forms on which people subscribe themselves. */
export class Forms extends Resource {
  /** The forms, newest first. */
  list(query: Query<'listForms'> = {}, options?: RequestOptions): List<Form> {
    return this.listOf('listForms', { query }, options);
  }

  create(body: Body<'createForm'>, options?: RequestOptions): Promise<Form> {
    return this.data('createForm', { body }, options);
  }

  /** With its HTML for other sites and its number of submissions. */
  get(id: string, options?: RequestOptions): Promise<FormDetail> {
    return this.data('getForm', { path: { id } }, options);
  }

  update(id: string, body: Body<'updateForm'>, options?: RequestOptions): Promise<Form> {
    return this.data('updateForm', { path: { id }, body }, options);
  }

  /** Deletes it with its submissions. Subscribed contacts stay. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteForm', { path: { id } }, options);
  }

  /** What people submitted, newest first; once confirmed, the records of their consent. */
  submissions(id: string, query: Query<'listFormSubmissions'> = {}, options?: RequestOptions): List<FormSubmission> {
    return this.listOf('listFormSubmissions', { path: { id }, query }, options);
  }
}
