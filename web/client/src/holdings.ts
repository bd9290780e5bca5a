import { Subscription } from './subscription.ts';
import type { View, Viewport } from './view.ts';
import { FIRST_PAGE, sameViewport, viewKey } from './view.ts';

/** One subscription and those who hold it. Of them, the choosers want its window where it is; the others go along wherever it goes. */
export interface Holding {
  readonly key: string;
  readonly subscription: Subscription;
  holders: number;
  choosers: number;
}

export interface HoldingEvents {
  readonly begun: (holding: Holding) => void;
  /** Nobody holds it any more. Resolves when the server has closed it. */
  readonly ended: (holding: Holding) => Promise<void>;
}

/** The open views of a hub. Equal windows of equal views are one subscription; windows that differ are one each. */
export class Holdings {
  readonly #byView = new Map<string, Set<Holding>>();
  readonly #events: HoldingEvents;

  constructor(events: HoldingEvents) {
    this.#events = events;
  }

  get all(): readonly Holding[] {
    return [...this.#byView.values()].flatMap((holdings) => [...holdings]);
  }

  /** Joins the view where it stands if no window is given, or opens it. */
  join(view: View, viewport: Viewport | null): Holding {
    const key = viewKey(view);
    const open = [...(this.#byView.get(key) ?? [])];
    const holding = viewport === null ? open[0] : (at(open, viewport) ?? open.find(({ choosers }) => choosers === 0));
    const joined = holding ?? this.#begin(key, view, viewport ?? FIRST_PAGE);
    joined.holders += 1;
    if (viewport !== null) this.#choose(joined, viewport);
    return joined;
  }

  /** Moves one holder, with those who go along, and none of the other choosers. Returns what it holds from now on. */
  move(from: Holding, chose: boolean, viewport: Viewport): Holding {
    const others = [...(this.#byView.get(from.key) ?? [])].filter((holding) => holding !== from);
    const alone = from.choosers === (chose ? 1 : 0);
    if (at(others, viewport) !== undefined || !alone) {
      const to = this.join(from.subscription.view, viewport);
      if (to !== from) void this.leave(from, chose);
      else to.holders -= 1;
      return to;
    }
    if (chose) from.choosers -= 1;
    this.#choose(from, viewport);
    return from;
  }

  async leave(holding: Holding, chose: boolean): Promise<void> {
    holding.holders -= 1;
    if (chose) holding.choosers -= 1;
    if (holding.holders > 0) return;
    const open = this.#byView.get(holding.key);
    open?.delete(holding);
    if (open?.size === 0) this.#byView.delete(holding.key);
    await this.#events.ended(holding);
  }

  clear(): void {
    this.#byView.clear();
  }

  #begin(key: string, view: View, viewport: Viewport): Holding {
    const holding = { key, subscription: new Subscription(view, viewport), holders: 0, choosers: 0 };
    const open = this.#byView.get(key) ?? new Set();
    this.#byView.set(key, open.add(holding));
    this.#events.begun(holding);
    return holding;
  }

  #choose(holding: Holding, viewport: Viewport): void {
    holding.choosers += 1;
    holding.subscription.move(viewport);
  }
}

function at(holdings: readonly Holding[], viewport: Viewport): Holding | undefined {
  return holdings.find(({ subscription }) => sameViewport(subscription.state.value.viewport, viewport));
}
