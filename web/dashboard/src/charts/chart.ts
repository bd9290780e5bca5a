import type { ElementRef } from '@angular/core';
import { afterNextRender, Component, DestroyRef, effect, inject, input, viewChild } from '@angular/core';
import uPlot from 'uplot';
import { Theme } from '../theme.ts';
import type { Bars, TimeSeries } from './series.ts';

/** A drawing of figures. Colours are those of the page; what it says is said in words beside it. */
@Component({
  selector: 'tablecast-chart',
  template: '<div #area class="chart-area" aria-hidden="true"></div>',
})
export class Chart {
  readonly data = input.required<TimeSeries | Bars>();
  readonly say = input.required<(value: number) => string>();

  protected readonly area = viewChild.required<ElementRef<HTMLElement>>('area');
  readonly #theme = inject(Theme);
  #plot: uPlot | null = null;

  constructor() {
    const destroyed = inject(DestroyRef);
    afterNextRender(() => {
      const area = this.area().nativeElement;
      this.#plot = new uPlot(this.#options(area), aligned(this.data()), area);
      const sizes = new ResizeObserver(() => { this.#plot?.setSize(sizeOf(area)); });
      sizes.observe(area);
      const scheme = area.ownerDocument.defaultView?.matchMedia('(prefers-color-scheme: dark)');
      const redraw = (): void => { this.#plot?.redraw(); };
      scheme?.addEventListener('change', redraw);
      destroyed.onDestroy(() => {
        scheme?.removeEventListener('change', redraw);
        sizes.disconnect();
        this.#plot?.destroy();
      });
    });
    effect(() => {
      const data = aligned(this.data());
      this.#plot?.setData(data);
    });
    effect(() => {
      this.#theme.choice();
      // The page changes its colours after this.
      queueMicrotask(() => { this.#plot?.redraw(); });
    });
  }

  #options(area: HTMLElement): uPlot.Options {
    const colour = (name: 'color' | 'borderTopColor' | 'textDecorationColor') => (): string => getComputedStyle(area)[name];
    const bars = 'names' in this.data();
    const words = { stroke: colour('textDecorationColor'), ticks: { show: false }, font: '11px system-ui' };
    const lines = { stroke: colour('borderTopColor'), width: 1 };
    const time: uPlot.Axis = { ...words, grid: lines, size: 24, space: 70, incrs: [...SECONDS], values: (_, splits) => splits.map((each) => CLOCK.format(each * 1000)) };
    const names: uPlot.Axis = { ...words, grid: { show: false }, size: 24, splits: () => this.#names().map((_, index) => index), values: ({ over }) => this.#fitting(over.clientWidth) };
    const line: uPlot.Series = { stroke: colour('color'), width: 1.5, points: { show: ({ data }) => [...(data[1] ?? [])].filter((value) => value !== null).length < FIRST_POINTS } };
    return {
      ...sizeOf(area),
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: bars ? { time: false, range: () => [-0.5, Math.max(0.5, this.#names().length - 0.5)] } : { range: lately }, y: { range: withZero } },
      axes: [bars ? names : time, { ...words, grid: lines, size: 52, values: (_, splits) => splits.map(this.say()) }],
      series: [{}, bars ? { ...line, fill: colour('color'), fillTo: 0, ...BARS } : line],
    };
  }

  /** Beside each other in so many pixels: what is cut stands whole in the table. */
  #fitting(px: number): string[] {
    const names = this.#names();
    const most = Math.max(2, Math.floor(px / names.length / CHARACTER_PX));
    return names.map((name) => (name.length > most ? `${name.slice(0, most - 1)}…` : name));
  }

  #names(): readonly string[] {
    const data = this.data();
    return 'names' in data ? data.names : [];
  }
}

const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300];
const LEAST_SECONDS = 30;
const CHARACTER_PX = 7;
/** Before there is a line, there is at least a dot. */
const FIRST_POINTS = 2;
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const BARS: Partial<uPlot.Series> = { points: { show: false }, ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.6, 64] }) }) };

/** Half a minute at least: a line of two points says nothing. By the points themselves: what uPlot offers for one alone is a day. */
function lately({ data: [times] }: uPlot): uPlot.Range.MinMax {
  const end = times.at(-1) ?? Date.now() / 1000;
  return [Math.min(times[0] ?? end, end - LEAST_SECONDS), end];
}

/** A bar or a line is read by how far it is from zero, on either side. */
function withZero(_: uPlot, least: number | null, most: number | null): uPlot.Range.MinMax {
  const [low, high] = [Math.min(0, least ?? 0), Math.max(0, most ?? 0)];
  return low === high ? [0, 1] : [low * 1.1, high * 1.1];
}

function sizeOf(area: HTMLElement): { width: number; height: number } {
  return { width: Math.max(80, area.clientWidth), height: Math.max(80, area.clientHeight) };
}

function aligned(data: TimeSeries | Bars): uPlot.AlignedData {
  return 'names' in data ? [data.names.map((_, index) => index), [...data.values]] : [[...data.times], [...data.values]];
}
