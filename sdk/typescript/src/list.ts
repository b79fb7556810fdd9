/** One page of a list, newest first. */
export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
  /** The number of all results, if the query had `total: true`; 100000 means that many or more. */
  total?: number | undefined;
}

/** A list of any length. `for await` reads all items, fetching pages as needed; `await` reads only the first page. */
export class List<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  /** The pages in order. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield page;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** All items, or the first `max` of them. */
  async toArray(max = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const items: Item[] = [];
    if (max <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }

  // Awaiting a list reads its first page.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Result = Page<Item>, Refusal = never>(
    onFulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Refusal | PromiseLike<Refusal>) | null,
  ): Promise<Result | Refusal> {
    return this.#read(undefined).then(onFulfilled, onRejected);
  }
}
