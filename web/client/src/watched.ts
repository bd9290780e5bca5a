/** A value that changes, and tells those who watch it. */
export interface Watchable<T> {
  readonly value: T;
  /** Calls `watcher` at each later change, until the returned function is called. */
  watch(watcher: (value: T) => void): () => void;
}

/** The writing side of a `Watchable`. Setting an equal value tells nobody: what is said once is not said again. */
export class Watched<T> implements Watchable<T> {
  #value: T;
  readonly #same: (left: T, right: T) => boolean;
  readonly #watchers = new Set<{ readonly tell: (value: T) => void }>();

  constructor(value: T, same: (left: T, right: T) => boolean = Object.is) {
    this.#value = value;
    this.#same = same;
  }

  get value(): T {
    return this.#value;
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  set(value: T): void {
    if (this.#same(this.#value, value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) this.#tell(watcher.tell, value);
  }

  /** Nobody who watches now hears anything more. */
  silence(): void {
    this.#watchers.clear();
  }

  watch(watcher: (value: T) => void): () => void {
    const entry = { tell: watcher };
    this.#watchers.add(entry);
    return () => {
      this.#watchers.delete(entry);
    };
  }

  /** A watcher that throws must not take the table with it, so its error surfaces outside of this call. */
  #tell(tell: (value: T) => void, value: T): void {
    try {
      tell(value);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
