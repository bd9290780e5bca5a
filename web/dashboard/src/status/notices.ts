import { Component, computed, inject, signal } from '@angular/core';
import type { Problem } from '@tablecast/client';
import { moment } from '../format.ts';
import { OPERATOR } from '../panels/destination.ts';
import { Workspace } from '../panels/workspace.ts';
import { Session } from '../session.ts';
import { BuildProgress } from './build-progress.ts';
import { Freshness } from './freshness.ts';
import { Overview } from './overview.ts';
import type { PictureKind } from './picture.ts';
import { Picture } from './picture.ts';

interface Notice {
  readonly picture: PictureKind;
  readonly title: string;
  readonly text: string;
}

/** What is wrong with the page as a whole: at most one thing, the worst, said once. */
@Component({
  selector: 'tablecast-notices',
  imports: [BuildProgress, Picture],
  templateUrl: './notices.html',
})
export class Notices {
  readonly #session = inject(Session);
  readonly #freshness = inject(Freshness);
  readonly #overview = inject(Overview);
  readonly #workspace = inject(Workspace);
  readonly #read = signal<string | null>(null);

  /** About the connection. */
  protected readonly trouble = computed<Notice | null>(() => {
    const state = this.#session.state();
    if (state?.phase === 'reconnecting') return this.#lost(state.problem);
    // Before there is any table to look at, the page shows nothing else than the fill.
    if (!state?.problem || (this.#session.catalogue() === null && !this.#session.filled())) return null;
    const text = `${state.problem.message} ${state.problem.hint ?? ''}`.trim();
    if (state.phase === 'live') return { picture: 'note', title: 'The server says', text };
    return { picture: this.#session.filled() ? 'stale' : 'filling', title: `Rows as of ${this.#asOf()}`, text };
  });
  protected readonly catalogueProblem = this.#session.catalogueProblem;
  /** A generation that could not be built: the tables go on, so it is a note that can be put away. The operator panel tells of it by itself. */
  protected readonly failure = computed<string | null>(() => {
    const row = this.#overview.row();
    const live = this.#session.state()?.phase === 'live';
    const told = this.#workspace.boxes().some(({ panel }) => panel.shows === OPERATOR);
    return live && !told && row?.lastError !== this.#read() ? (row?.lastError ?? null) : null;
  });
  protected readonly shown = computed(() => this.#overview.generation());

  protected readAgain(): void {
    this.#session.readAgain();
  }

  protected putAway(): void {
    this.#read.set(this.failure());
  }

  protected openOperator(): void {
    this.#workspace.open(OPERATOR);
  }

  #lost(why: Problem | null): Notice {
    const text = `${why?.message ?? 'The connection was lost.'} ${why?.hint ?? 'The page keeps trying.'}`;
    return { picture: 'lost', title: `Rows as of ${this.#asOf()}`, text };
  }

  #asOf(): string {
    const at = this.#freshness.currentAt();
    return at === null ? 'earlier' : moment(at, this.#freshness.now());
  }
}
