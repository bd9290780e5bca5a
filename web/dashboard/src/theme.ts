import { DOCUMENT, effect, inject, Service, signal } from '@angular/core';
import { ViewerStorage } from '@tablecast/live-table';

export const THEMES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEMES)[number];

const STORED_AS = 'tablecast.theme';

/** Light or dark: as the system is, unless the viewer chose. Styles follow the page's `color-scheme`. */
@Service()
export class Theme {
  readonly #document = inject(DOCUMENT);
  readonly #storage = new ViewerStorage(() => this.#document.defaultView?.localStorage);
  readonly #choice = signal<ThemeChoice>(this.#kept());
  readonly choice = this.#choice.asReadonly();

  constructor() {
    effect(() => {
      const choice = this.#choice();
      if (choice === 'system') delete this.#document.documentElement.dataset['theme'];
      else this.#document.documentElement.dataset['theme'] = choice;
    });
  }

  choose(choice: string): void {
    const known = THEMES.find((theme) => theme === choice) ?? 'system';
    this.#choice.set(known);
    if (known === 'system') this.#storage.forget(STORED_AS);
    else this.#storage.keep(STORED_AS, known);
  }

  #kept(): ThemeChoice {
    const kept = this.#storage.read(STORED_AS);
    return THEMES.find((theme) => theme === kept) ?? 'system';
  }
}
