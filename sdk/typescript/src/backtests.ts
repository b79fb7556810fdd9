import type { List } from './list.ts';
import { type Body, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { Backtest, BacktestContact, BacktestDetail } from './types.ts';

/** Runs of journeys against the past, without sending. */
export class Backtests extends Resource {
  /** The backtests, newest first. */
  list(query: Query<'listBacktests'> = {}, options?: RequestOptions): List<Backtest> {
    return this.listOf('listBacktests', { query }, options);
  }

  /** Starts a backtest, which runs in the background. */
  start(body: Body<'startBacktest'>, options?: RequestOptions): Promise<Backtest> {
    return this.data('startBacktest', { body }, options);
  }

  /** With the figures by step and day. */
  get(id: string, options?: RequestOptions): Promise<BacktestDetail> {
    return this.data('getBacktest', { path: { id } }, options);
  }

  cancel(id: string, options?: RequestOptions): Promise<Backtest> {
    return this.data('cancelBacktest', { path: { id } }, options);
  }

  /** The contacts that would have entered and pass every filter, with their steps. */
  contacts(id: string, query: Query<'listBacktestContacts'> = {}, options?: RequestOptions): List<BacktestContact> {
    return this.listOf('listBacktestContacts', { path: { id }, query }, options);
  }

  /** Their steps as a CSV file. */
  exportContacts(
    id: string,
    query: Query<'exportBacktestContacts'> = {},
    options?: RequestOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.transport.call('exportBacktestContacts', { path: { id }, query }, options);
  }
}
