import type { ElementRef } from '@angular/core';
import { Component, computed, effect, inject, viewChild, viewChildren } from '@angular/core';
import { titleOf } from './caption.ts';
import type { Layout } from './layout.ts';
import { PanelFrame } from './panel.ts';
import { Workspace } from './workspace.ts';

/** A line between two panels that can be moved. Numbers are percent of the page. */
interface Edge {
  readonly key: string;
  readonly upright: boolean;
  readonly left: number;
  readonly top: number;
  readonly length: number;
  readonly label: string;
  readonly moveTo: (at: number) => void;
}

const STEP = 0.02;

/** All panels, where the layout says, and the edges between them. Panels are moved about, not made anew: each keeps its subscription. */
@Component({
  selector: 'tablecast-panel-grid',
  imports: [PanelFrame],
  templateUrl: './panel-grid.html',
})
export class PanelGrid {
  protected readonly workspace = inject(Workspace);
  protected readonly area = viewChild.required<ElementRef<HTMLElement>>('area');
  protected readonly frames = viewChildren(PanelFrame);

  protected readonly edges = computed<readonly Edge[]>(() => {
    const layout = this.workspace.layout();
    if (layout === null || this.workspace.boxes().length < 2) return [];
    return [...this.#columnEdges(layout), ...this.#rowEdges(layout)];
  });

  protected readonly round = Math.round;
  #focused: number | null = null;

  constructor() {
    effect(() => {
      const id = this.workspace.active()?.id ?? null;
      const frame = this.frames().find((each) => each.panel().id === id);
      // The first one is active without anybody having asked for it.
      if (this.#focused !== null && this.#focused !== id) frame?.focus();
      this.#focused = id;
    });
  }

  protected nudge(event: KeyboardEvent, edge: Edge): void {
    const steps: Readonly<Record<string, number>> = edge.upright ? { ArrowLeft: -STEP, ArrowRight: STEP } : { ArrowUp: -STEP, ArrowDown: STEP };
    const step = steps[event.key];
    if (step === undefined || event.altKey) return;
    event.preventDefault();
    edge.moveTo((edge.upright ? edge.left : edge.top) / 100 + step);
  }

  protected drag(event: PointerEvent, edge: Edge): void {
    const line = event.target as HTMLElement;
    const area = this.area().nativeElement.getBoundingClientRect();
    line.setPointerCapture(event.pointerId);
    const follow = ({ clientX, clientY }: PointerEvent): void => {
      edge.moveTo(edge.upright ? (clientX - area.left) / area.width : (clientY - area.top) / area.height);
    };
    line.addEventListener('pointermove', follow);
    line.addEventListener('lostpointercapture', () => { line.removeEventListener('pointermove', follow); }, { once: true });
  }

  #columnEdges(layout: Layout): readonly Edge[] {
    let left = 0;
    return layout.slice(0, -1).map(({ share }, index) => {
      left += share * 100;
      const moveTo = (at: number): void => { this.workspace.resizeColumns(index, at); };
      return { key: `c${String(index)}`, upright: true, left, top: 0, length: 100, label: 'Width of the columns', moveTo };
    });
  }

  #rowEdges(layout: Layout): readonly Edge[] {
    let left = 0;
    return layout.flatMap(({ share, panels }, column) => {
      const begin = left;
      let top = 0;
      left += share * 100;
      return panels.slice(0, -1).map((panel, index) => {
        top += panel.share * 100;
        const label = `Height of ${titleOf(panel.shows)}`;
        const moveTo = (at: number): void => { this.workspace.resizeRows(column, index, at); };
        return { key: `r${String(column)}-${String(index)}`, upright: false, left: begin, top, length: share * 100, label, moveTo };
      });
    });
  }
}
