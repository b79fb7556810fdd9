import { List, type Page } from './list.ts';
import type { Input, OperationId, RequestOptions, Transport } from './transport.ts';
import type { Operations } from './types.ts';

/** The query of a list: filters, page size and cursor. */
export type Query<Id extends OperationId> = Operations[Id]['query'];
export type Body<Id extends OperationId> = Operations[Id]['body'];

/** The operations that respond with a page. */
export type ListId = { [Id in OperationId]: Operations[Id]['reply'] extends Page<unknown> ? Id : never }[OperationId];
export type ItemOf<Id extends ListId> = Operations[Id]['reply']['data'][number];

/** The operations that respond with `{data}`. */
export type DataId = {
  [Id in OperationId]: Operations[Id]['reply'] extends { data: unknown } ? Id : never;
}[OperationId];
export type DataOf<Id extends DataId> = Operations[Id]['reply']['data'];

/** Base class of the client's resources. */
export abstract class Resource {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  protected async data<Id extends DataId>(id: Id, input: Input, options?: RequestOptions): Promise<DataOf<Id>> {
    return (await this.transport.call(id, input, options)).data;
  }

  protected async done(id: OperationId, input: Input, options?: RequestOptions): Promise<void> {
    await this.transport.call(id, input, options);
  }

  protected listOf<Id extends ListId>(id: Id, input: Input, options?: RequestOptions): List<ItemOf<Id>> {
    return new List(async (cursor) => {
      const query = cursor === undefined ? input.query : { ...input.query, cursor };
      return this.transport.call(id, { ...input, query }, options) as Promise<Page<ItemOf<Id>>>;
    });
  }
}
