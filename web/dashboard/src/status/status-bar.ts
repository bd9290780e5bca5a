import { Component, computed, inject } from '@angular/core';
import { amount, coarse, moment, since } from '../format.ts';
import { isTable } from '../panels/destination.ts';
import { Workspace } from '../panels/workspace.ts';
import { Session } from '../session.ts';
import { FiguresLog, READ_EVERY_MS } from './figures.ts';
import { Freshness } from './freshness.ts';
import { Generations } from './generations.ts';
import { Overview } from './overview.ts';

/** How the connection and the data stand: always there, in one line. */
@Component({
  selector: 'tablecast-status-bar',
  templateUrl: './status-bar.html',
})
export class StatusBar {
  readonly #session = inject(Session);
  readonly #overview = inject(Overview);
  readonly #generations = inject(Generations);
  readonly #figures = inject(FiguresLog);
  readonly #freshness = inject(Freshness);
  readonly #workspace = inject(Workspace);

  protected readonly state = this.#session.state;
  protected readonly phase = computed(() => {
    const state = this.state();
    if (state?.problem?.code !== 'feed_filling') return state?.phase;
    return this.#generations.failed() === null ? 'filling' : 'failed';
  });
  protected readonly entered = this.#session.entered;
  protected readonly generation = computed(() => this.#overview.generation() ?? this.#figures.latest()?.generation ?? null);
  protected readonly building = computed(() => this.#overview.row()?.building ?? null);
  protected readonly table = computed(() => {
    const shows = this.#workspace.active()?.shows ?? '';
    return isTable(shows) ? shows : '';
  });
  protected readonly age = computed(() => {
    const age = this.#freshness.age();
    return age === null ? null : since(age);
  });
  /** What changed since the server's counts were last read is not known yet, so nothing is told to the millisecond. */
  protected readonly lastChange = computed(() => {
    const [seconds, latest] = [this.#figures.latest()?.ages.get(this.table()), this.#figures.latest()];
    if (seconds === undefined || latest === null) return null;
    const ms = seconds * 1000 + Math.max(0, this.#freshness.now() - latest.at);
    return ms < READ_EVERY_MS ? 'just now' : `${since(ms)} ago`;
  });
  protected readonly rows = computed(() => {
    const rows = this.#figures.latest()?.rows.get(this.table());
    return rows === undefined ? null : amount(rows);
  });
  protected readonly rate = computed(() => {
    const rate = this.table() === '' ? null : this.#figures.rateOf(this.table());
    return rate === null ? null : `${coarse(rate)}/s`;
  });
  protected readonly lastSwap = computed(() => {
    const at = this.#overview.row()?.lastApplied ?? null;
    return at === null ? null : moment(at, this.#freshness.now());
  });
}
