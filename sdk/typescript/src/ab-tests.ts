import type { List } from './list.ts';
import { type Body, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { AbTest, AbTestDetail } from './types.ts';

/** A/B tests of campaigns. */
export class AbTests extends Resource {
  /** The A/B tests, newest first. */
  list(query: Query<'listAbTests'> = {}, options?: RequestOptions): List<AbTest> {
    return this.listOf('listAbTests', { query }, options);
  }

  /** Makes an A/B test from a draft campaign, which becomes its first variant. The others are copies of it. */
  create(body: Body<'createAbTest'>, options?: RequestOptions): Promise<AbTestDetail> {
    return this.data('createAbTest', { body }, options);
  }

  /** With the figures of its variants. */
  get(id: string, options?: RequestOptions): Promise<AbTestDetail> {
    return this.data('getAbTest', { path: { id } }, options);
  }

  /** Changes the settings of an A/B test that has not been started. */
  update(id: string, body: Body<'updateAbTest'>, options?: RequestOptions): Promise<AbTestDetail> {
    return this.data('updateAbTest', { path: { id }, body }, options);
  }

  /** Deletes an A/B test that has not been started; its first variant becomes an ordinary draft again. */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.done('deleteAbTest', { path: { id } }, options);
  }

  /** Starts it: each variant is sent to its share of the audience. */
  start(id: string, options?: RequestOptions): Promise<AbTestDetail> {
    return this.data('startAbTest', { path: { id } }, options);
  }

  /** Ends it with this winner, which the rest of the audience gets. */
  chooseWinner(id: string, campaignId: string, options?: RequestOptions): Promise<AbTestDetail> {
    return this.data('chooseAbTestWinner', { path: { id }, body: { campaign_id: campaignId } }, options);
  }

  /** Cancels it, and what its variants have not sent. */
  cancel(id: string, options?: RequestOptions): Promise<AbTestDetail> {
    return this.data('cancelAbTest', { path: { id } }, options);
  }
}
