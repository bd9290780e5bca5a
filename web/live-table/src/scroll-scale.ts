/** Taller than this no browser lays an element out: Firefox ends at 17,800,000 px, Chromium at 33,500,000. */
const TALLEST_PX = 16_000_000;

/** How rows of one height stand in a scrolled element, which may be less tall than they are together. */
export class ScrollScale {
  readonly rowPx: number;
  readonly viewPx: number;
  readonly rows: number;

  constructor(rows: number, rowPx: number, viewPx: number) {
    this.rows = rows;
    this.rowPx = rowPx;
    this.viewPx = viewPx;
  }

  /** The height of the scrolled element. */
  get tallPx(): number {
    return Math.min(this.#fullPx, TALLEST_PX);
  }

  /** The farthest that one can scroll, in pixels of rows. */
  get endPx(): number {
    return Math.max(0, this.#fullPx - this.viewPx);
  }

  /** Pixels of rows at a position of the scroll bar. */
  rowsAt(scrollTop: number): number {
    return this.clamp(scrollTop * this.rowsPerBar);
  }

  /** The position of the scroll bar for pixels of rows. */
  barAt(px: number): number {
    return this.clamp(px) / this.rowsPerBar;
  }

  clamp(px: number): number {
    return Math.min(Math.max(0, px), this.endPx);
  }

  /** The rows of which anything is to be seen, from the first to the one behind the last. */
  seen(px: number): { readonly from: number; readonly to: number } {
    const from = Math.floor(px / this.rowPx);
    return { from, to: Math.min(this.rows, Math.ceil((px + this.viewPx) / this.rowPx)) };
  }

  /** The nearest position at which the whole row is seen. */
  reveal(row: number, px: number): number {
    const top = row * this.rowPx;
    if (top < px) return this.clamp(top);
    return this.clamp(Math.max(px, top + this.rowPx - this.viewPx));
  }

  get #fullPx(): number {
    return this.rows * this.rowPx;
  }

  /** Pixels of rows for a pixel of the scroll bar. */
  get rowsPerBar(): number {
    const bar = this.tallPx - this.viewPx;
    return bar > 0 && this.endPx > 0 ? this.endPx / bar : 1;
  }
}
