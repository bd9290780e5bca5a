/** What a browser keeps for its viewer. Where it keeps nothing, or refuses even to be asked, everything is as at first. */
export class ViewerStorage {
  readonly #ask: () => Storage | undefined;

  /** `ask` reaches for the storage, which may throw. */
  constructor(ask: () => Storage | undefined) {
    this.#ask = ask;
  }

  read(key: string): string | null {
    return this.#tried(() => this.#ask()?.getItem(key)) ?? null;
  }

  /** A full storage costs the next visit what it would have known, and nothing now. */
  keep(key: string, text: string): void {
    this.#tried(() => this.#ask()?.setItem(key, text));
  }

  forget(key: string): void {
    this.#tried(() => this.#ask()?.removeItem(key));
  }

  #tried<T>(step: () => T): T | undefined {
    try {
      return step();
    } catch {
      return undefined;
    }
  }
}
