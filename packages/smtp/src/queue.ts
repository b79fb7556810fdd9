/** FIFO queue with amortized O(1) `shift`. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Adds an item that comes next. */
  unshift(item: T): void {
    if (this.#head > 0) this.#items[--this.#head] = item;
    else this.#items.unshift(item);
  }

  /** The next item, without removing it. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  /** Removes the items that match. */
  remove(matches: (item: T) => boolean): T[] {
    const items = this.#items.slice(this.#head) as T[];
    const removed = items.filter(matches);
    if (removed.length === 0) return removed;
    this.#items = items.filter((item) => !matches(item));
    this.#head = 0;
    return removed;
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length || this.#head === 4096) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

/** Round-robin over keys, FIFO within each: a key with a thousand items delays another key by one item. */
export class FairQueue<T> {
  /** Never holds an empty queue; the next key in turn comes first. */
  readonly #queues = new Map<string, Queue<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(key: string, item: T): void {
    this.#queueOf(key).push(item);
    this.#length++;
  }

  /** Adds an item that is the next one of its key. */
  unshift(key: string, item: T): void {
    this.#queueOf(key).unshift(item);
    this.#length++;
  }

  #queueOf(key: string): Queue<T> {
    let queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, (queue = new Queue()));
    return queue;
  }

  /** The next item, without removing it. */
  peek(): T | undefined {
    for (const queue of this.#queues.values()) return queue.peek();
    return undefined;
  }

  /** Removes the items that match. */
  remove(matches: (item: T) => boolean): T[] {
    const removed: T[] = [];
    for (const [key, queue] of this.#queues) {
      removed.push(...queue.remove(matches));
      if (queue.length === 0) this.#queues.delete(key);
    }
    this.#length -= removed.length;
    return removed;
  }

  shift(): T | undefined {
    for (const [key, queue] of this.#queues) {
      const item = queue.shift();
      this.#length--;
      if (queue.length > 0 && this.#queues.size === 1) return item;
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      return item;
    }
    return undefined;
  }
}
