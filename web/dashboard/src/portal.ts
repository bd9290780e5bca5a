import { DOCUMENT, inject, Service } from '@angular/core';
import { ENVIRONMENT } from './environment.ts';

/** What the page and the one around it say to each other. */
const TOKEN = 'tablecast.token';
const ANSWER_WITHIN_MS = 5_000;

/**
 * The page that shows this one in a frame, and gives it tokens: it answers `{ type: 'tablecast.token' }` with the same and a `token`.
 * Only those whom the operator has named can show this page in a frame (server.frame_ancestors), so whoever does is believed.
 */
@Service()
export class Portal {
  readonly #environment = inject(ENVIRONMENT);
  readonly #window = inject(DOCUMENT).defaultView;

  get isThere(): boolean {
    return this.#window !== null && this.#window.parent !== this.#window;
  }

  /** A token; `''` where there is nobody to ask, or nobody answers. */
  token(): Promise<string> {
    const { parent } = this.#window ?? {};
    if (!this.isThere || parent === undefined) return Promise.resolve('');
    return new Promise((resolve) => {
      const done = (token: string): void => {
        this.#window?.removeEventListener('message', hear);
        cancel();
        resolve(token);
      };
      const hear = ({ source, data }: MessageEvent<{ type?: unknown; token?: unknown } | null>): void => {
        if (source === parent && data?.type === TOKEN && typeof data.token === 'string') done(data.token);
      };
      const cancel = this.#environment.after(ANSWER_WITHIN_MS, () => { done(''); });
      this.#window?.addEventListener('message', hear);
      // Who is asked does not matter, since nothing is told.
      parent.postMessage({ type: TOKEN }, '*');
    });
  }

  /** The key to log in with now, and from the next login on whatever is given here. */
  renewing(first: string): () => string | Promise<string> {
    let given: string | null = first;
    return () => {
      const key = given ?? this.token();
      given = null;
      return key;
    };
  }
}
