import { currentTraceparent, inSpan, type SpanContext } from '@postroom/platform';

/**
 * The spans of a send run: one per page of recipients claimed, one for the first message of each page, and one per batch of
 * outcomes recorded. A span for each message would be a million of a large campaign. Links lead from the message to its page, and
 * from the outcomes to the message. A run that is not traced, or not sampled, pays for none of it.
 */
export class SendTrace {
  /** The pipeline claims, sends and settles concurrently, so its spans name the run's span instead of relying on the active one. */
  readonly #parent: string | undefined;
  readonly #attributes: { 'postroom.campaign.id': string };
  /** The message's page, and then the message itself, by the id of each sampled message that is not settled. */
  readonly #sampled = new Map<string, SpanContext>();

  constructor(campaignId: string) {
    const parent = currentTraceparent();
    // The last bit of the flags says that the trace is sampled (W3C Trace Context).
    if (parent?.endsWith('1')) this.#parent = parent;
    this.#attributes = { 'postroom.campaign.id': campaignId };
  }

  /** Claims a page in a span, and samples its first message. */
  claim<Page extends { rows: { id: string }[] }>(work: () => Promise<Page>): Promise<Page> {
    if (this.#parent === undefined) return work();
    return inSpan('claim recipients', { parent: this.#parent, attributes: this.#attributes }, async (span) => {
      const page = await work();
      const [first] = page.rows;
      span?.setAttributes({ 'postroom.messages': page.rows.length });
      if (span !== undefined && first !== undefined) this.#sampled.set(first.id, span.spanContext());
      return page;
    });
  }

  /** Sends a message, in a span if it is sampled. */
  send<T>(messageId: string, work: () => Promise<T>): Promise<T> {
    const page = this.#sampled.get(messageId);
    if (this.#parent === undefined || page === undefined) return work();
    const attributes = { ...this.#attributes, 'postroom.message.id': messageId };
    return inSpan('send mail', { kind: 'client', parent: this.#parent, attributes, links: [page] }, (span) => {
      if (span !== undefined) this.#sampled.set(messageId, span.spanContext());
      return work();
    });
  }

  /** Records a batch of outcomes in a span. */
  settle<T>(settlements: readonly { id: string }[], work: () => Promise<T>): Promise<T> {
    if (this.#parent === undefined) return work();
    const links = settlements.flatMap(({ id }) => {
      const message = this.#sampled.get(id);
      this.#sampled.delete(id);
      return message === undefined ? [] : [message];
    });
    const attributes = { ...this.#attributes, 'postroom.messages': settlements.length };
    return inSpan('record outcomes', { parent: this.#parent, attributes, links }, work);
  }
}
