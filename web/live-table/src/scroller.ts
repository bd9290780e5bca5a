import { ScrollScale } from './scroll-scale.ts';

/** A grid that has no size yet, as before it is laid out, is taken to be this tall. */
const UNKNOWN_PX = 600;

/** Where the rows stand behind a scrolled element. It knows the place to a fraction of a row, also where the scroll bar does not. */
export class Scroller {
  readonly #scroll: HTMLElement;
  readonly #body: HTMLElement;
  #scale: ScrollScale;
  #px = 0;
  #bar = 0;
  #tall = -1;
  #due = false;

  constructor(scroll: HTMLElement, body: HTMLElement, rowPx: number) {
    this.#scroll = scroll;
    this.#body = body;
    this.#scale = new ScrollScale(0, rowPx, UNKNOWN_PX);
  }

  get scale(): ScrollScale {
    return this.#scale;
  }

  get px(): number {
    return this.#px;
  }

  /** The last row is in view, and not all rows are. */
  get atEnd(): boolean {
    return this.#scale.endPx > 0 && this.#px >= this.#scale.endPx - 1;
  }

  /** So many rows fit into the view. */
  get page(): number {
    return Math.max(1, Math.floor(this.#scale.viewPx / this.#scale.rowPx));
  }

  /** The element was laid out anew. The head above the rows takes its part of it. */
  measure(): void {
    const tall = this.#scroll.clientHeight - this.#body.offsetTop;
    this.#rescale(this.#scale.rows, tall > 0 ? tall : UNKNOWN_PX);
  }

  resize(rows: number): void {
    if (rows !== this.#scale.rows) this.#rescale(rows, this.#scale.viewPx);
  }

  /**
   * Somebody scrolled; or it was us, and nothing is new. A small step starts from where the rows are, which is exact; a big one is a new
   * place. Whether anything is new.
   */
  scrolled(): boolean {
    const bar = this.#scroll.scrollTop;
    const step = bar - this.#bar;
    if (Math.abs(step) < 1) return false;
    this.#bar = bar;
    const far = Math.abs(step) > this.#scale.viewPx || bar < 1 || bar > this.#scale.barAt(this.#scale.endPx) - 1;
    this.#px = far ? this.#scale.rowsAt(bar) : this.#scale.clamp(this.#px + this.#scale.rowsPerBar * step);
    return true;
  }

  go(px: number): void {
    this.aim(px);
    this.settle();
  }

  /** As `go`, but the bar follows with `settle`: what is painted in between is laid out together with it, once. */
  aim(px: number): void {
    this.#px = this.#scale.clamp(px);
    this.#bar = this.#scale.barAt(this.#px);
    this.#due = true;
  }

  /** Whether the bar is where it was meant to be; else the rows are to be painted for where it is. */
  settle(): boolean {
    if (!this.#due) return true;
    const meant = this.#bar;
    this.#due = false;
    this.#scroll.scrollTop = meant;
    this.#bar = this.#scroll.scrollTop;
    return Math.abs(this.#bar - meant) < 1;
  }

  /** Where a row stands within the body. */
  topOf(index: number): number {
    return index * this.#scale.rowPx - this.#px + this.#bar;
  }

  #rescale(rows: number, viewPx: number): void {
    this.#scale = new ScrollScale(rows, this.#scale.rowPx, viewPx);
    if (this.#scale.tallPx !== this.#tall) {
      this.#tall = this.#scale.tallPx;
      this.#body.style.blockSize = `${String(this.#tall)}px`;
    }
    const astray = Math.abs(this.#scale.barAt(this.#px) - this.#bar);
    if (this.#px > this.#scale.endPx || astray > viewPx / 2) this.go(this.#px);
  }
}
