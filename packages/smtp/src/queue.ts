/** First in, first out, without moving what waits each time. */
export class Queue<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The next one, which stays. */
  peek(): T | undefined {
    return this.#items[this.#head];
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

/** What is first in, first out for each key, and the keys take turns: one that pushed a thousand delays another by one. */
export class FairQueue<T> {
  /** None of them is empty; the one whose turn it is comes first. */
  readonly #queues = new Map<string, Queue<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(key: string, item: T): void {
    let queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, (queue = new Queue()));
    queue.push(item);
    this.#length++;
  }

  /** The next one, which stays. */
  peek(): T | undefined {
    for (const queue of this.#queues.values()) return queue.peek();
    return undefined;
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
