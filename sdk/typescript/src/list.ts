/** One page of a list, newest first. */
export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
  /** How many there are in all, if the query asked with `total: true`; 100000 means so many or more. */
  total?: number | undefined;
}

/**
 * A list of any length. `for await` over it reads every item, a page at a time as they are needed; `await` reads only
 * the first page.
 */
export class List<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read;
  }

  /** The pages, one after the other. */
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

  // A list that is awaited is its first page.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Result = Page<Item>, Refusal = never>(
    onFulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Refusal | PromiseLike<Refusal>) | null,
  ): Promise<Result | Refusal> {
    return this.#read(undefined).then(onFulfilled, onRejected);
  }
}
