import { DOCUMENT, inject, Service } from '@angular/core';
import { ViewerStorage } from '@tablecast/live-table';

const STORED_AS = 'tablecast.access';

/** A server, and a key or token that can be written down. */
export interface PlainAccess {
  readonly url: string;
  readonly key: string;
}

/** Where the key comes from and stays: this tab's session storage, and nowhere else. */
@Service()
export class Keyring {
  readonly #window = inject(DOCUMENT).defaultView;
  readonly #storage = new ViewerStorage(() => this.#window?.sessionStorage);

  /** The server that this page came from. */
  get origin(): string {
    return this.#window?.location.origin ?? '';
  }

  keep(access: PlainAccess): void {
    this.#storage.keep(STORED_AS, JSON.stringify(access));
  }

  forget(): void {
    this.#storage.forget(STORED_AS);
  }

  /** The access in the address bar, which then no longer shows it. */
  fromFragment(): PlainAccess | null {
    if (this.#window === null) return null;
    const { location, history } = this.#window;
    const parts = location.hash.slice(1).split('&');
    const given = parts.find((part) => part.startsWith('key='));
    if (given === undefined) return null;
    const rest = parts.filter((part) => part !== given).join('&');
    history.replaceState(history.state, '', `${location.pathname}${location.search}${rest && `#${rest}`}`);
    return { url: this.origin, key: unescaped(given.slice('key='.length)) };
  }

  /** The access that this tab was last let in with. */
  fromStorage(): PlainAccess | null {
    const { url, key } = parsed(this.#storage.read(STORED_AS) ?? 'null');
    return typeof url === 'string' && typeof key === 'string' ? { url, key } : null;
  }
}

/** What cannot be read is as if it were not there. */
function parsed(text: string): Partial<Record<keyof PlainAccess, unknown>> {
  try {
    return (JSON.parse(text) as Partial<PlainAccess> | null) ?? {};
  } catch {
    return {};
  }
}

/** A key may hold a `%` that nobody escaped. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
