import type { Snapshot } from '@tablecast/client';
import { shiftOf } from './anchor.ts';
import type { PlacedColumn } from './column-layout.ts';
import { acrossTo } from './column-layout.ts';
import { RowPainter } from './row-painter.ts';
import { Scroller } from './scroller.ts';
import type { Place, Range } from './selection.ts';
import type { Seen } from './window-plan.ts';

export const ROW_PX = 28;
/** Rows beyond the view that are painted too, for the moment between a scroll and its paint. */
const OVERSCAN = 6;
const FADE_EVERY_MS = 150;

/** What is to be shown at this moment. */
export interface Look {
  /** Rows of two snapshots are compared only under the same name. */
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly columns: readonly PlacedColumn[];
  readonly active: Place | null;
  readonly range: Range | null;
  readonly selected: string | null;
}

export interface PaneEvents {
  readonly look: () => Look | null;
  /** The rows in view, after each paint. */
  readonly seen: (seen: Seen, total: number) => void;
  /** New rows are about to be painted, and those in view went on by so many places. */
  readonly shifted: (snapshot: Snapshot, shift: number) => void;
}

/** The part of the grid that scrolls. It paints at most once an animation frame, however often it is asked to. */
export class RowsPane {
  readonly #scroll: HTMLElement;
  readonly #events: PaneEvents;
  readonly #painter: RowPainter;
  readonly #scroller: Scroller;
  readonly #observer: ResizeObserver | null;
  #frame: number | null = null;
  #last: { readonly name: string; readonly snapshot: Snapshot } | null = null;
  #painted: Look | null = null;
  #seen: Seen = { from: 0, to: 0 };
  /** Not by way of Angular, which would look through the whole grid at each step. */
  readonly #scrolled = (): void => { if (this.#scroller.scrolled()) this.request(); };
  #focusing = false;
  #handing = false;
  #fading: ReturnType<typeof setTimeout> | undefined;

  constructor(scroll: HTMLElement, body: HTMLElement, events: PaneEvents) {
    this.#scroll = scroll;
    this.#events = events;
    this.#painter = new RowPainter(body);
    this.#scroller = new Scroller(scroll, body, ROW_PX);
    this.#scroller.measure();
    const measured = (): void => { this.#scroller.measure(); this.request(); };
    this.#observer = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(measured);
    this.#observer?.observe(scroll);
    scroll.addEventListener('scroll', this.#scrolled, { passive: true });
  }

  get page(): number {
    return this.#scroller.page;
  }

  get seen(): Seen {
    return this.#seen;
  }

  request(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.#paint();
    });
  }

  /** To be called when what is to be shown may be new: mostly the frame that brought it has been painted already. */
  show(look: Look | null): void {
    if (look === null || this.#painted === null || !sameLook(look, this.#painted)) this.request();
  }

  /** Puts a row at the top of the view. */
  goTo(index: number): void {
    this.#scroller.go(index * ROW_PX);
    this.request();
  }

  /** Puts a row into the middle of the view, as far as there are rows around it. */
  centre(index: number): void {
    this.#scroller.go(index * ROW_PX - (this.#scroller.scale.viewPx - ROW_PX) / 2);
    this.request();
  }

  /** Scrolls by as little as shows the whole cell. The head is above the rows, and always in view. */
  reveal({ index, column }: Place): void {
    const { scale, px } = this.#scroller;
    const to = index < 0 ? px : scale.reveal(index, px);
    if (to !== px) this.#scroller.go(to);
    const { scrollLeft, clientWidth } = this.#scroll;
    const across = acrossTo(this.#events.look()?.columns ?? [], column, scrollLeft, clientWidth);
    if (across !== scrollLeft) this.#scroll.scrollLeft = across;
    this.request();
  }

  /** The active cell gets the focus with the next paint. */
  focus(): void {
    this.#focusing = true;
    this.request();
  }

  /** The focus is being moved by the pane itself, as when the active cell is scrolled out of view: nobody came to the grid. */
  get handing(): boolean {
    return this.#handing;
  }

  placeOf(target: EventTarget | null): Place | null {
    return this.#painter.placeOf(target);
  }

  destroy(): void {
    this.#scroll.removeEventListener('scroll', this.#scrolled);
    this.#observer?.disconnect();
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#fading);
  }

  #paint(): void {
    const look = this.#events.look();
    if (look === null) {
      this.#last = this.#painted = null;
      return this.#painter.clear();
    }
    this.#follow(look);
    // Cursor and range have followed the rows.
    const shown = this.#events.look() ?? look;
    this.#painted = shown;
    const { scale, px } = this.#scroller;
    this.#seen = scale.seen(px);
    const rows = { from: Math.max(0, this.#seen.from - OVERSCAN), to: Math.min(scale.rows, this.#seen.to + OVERSCAN) };
    const focused = this.#focusing || this.#holdsFocus();
    const now = performance.now();
    this.#painter.paint({ ...shown, rows, now, top: this.#scroller.topOf(rows.from) });
    if (!this.#scroller.settle()) this.request();
    this.#fade(now);
    if (focused) this.#focusActive(shown.active);
    this.#events.seen(this.#seen, look.snapshot.total);
  }

  #fade(now: number): void {
    if (this.#fading !== undefined || !this.#painter.fade(now)) return;
    this.#fading = setTimeout(() => {
      this.#fading = undefined;
      this.#fade(performance.now());
    }, FADE_EVERY_MS);
  }

  /** Rows that come and go above do not push those that somebody reads; at the very top and at the very end one wants to see what comes. */
  #follow({ name, snapshot }: Look): void {
    const last = this.#last;
    if (last?.snapshot === snapshot && last.name === name) return;
    this.#last = { name, snapshot };
    const known = last?.name === name;
    const atEnd = this.#scroller.atEnd;
    const shift = known && this.#scroller.px > 0 ? shiftOf(last.snapshot, snapshot, this.#seen) : 0;
    this.#scroller.resize(snapshot.total);
    if (!known) this.#scroller.go(0);
    else if (atEnd) this.#scroller.aim(this.#scroller.scale.endPx);
    else if (shift !== 0) this.#scroller.aim(this.#scroller.px + shift * ROW_PX);
    this.#events.shifted(snapshot, shift);
  }

  #holdsFocus(): boolean {
    const active = this.#scroll.ownerDocument.activeElement;
    return active instanceof HTMLTableCellElement && this.#scroll.contains(active);
  }

  #focusActive(active: Place | null): void {
    if (active === null || active.index < 0) return;
    this.#focusing = false;
    const cell = this.#painter.cellAt(active) ?? this.#scroll;
    if (cell === this.#scroll.ownerDocument.activeElement) return;
    this.#handing = true;
    cell.focus({ preventScroll: true });
    this.#handing = false;
  }
}

function sameLook(one: Look, other: Look): boolean {
  return (Object.keys(one) as (keyof Look)[]).every((part) => one[part] === other[part]);
}
