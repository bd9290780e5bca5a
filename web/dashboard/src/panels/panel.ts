import type { ElementRef } from '@angular/core';
import { Component, computed, DOCUMENT, effect, inject, input, linkedSignal, signal, untracked, viewChild } from '@angular/core';
import { LiveTableGrid, putOnClipboard } from '@tablecast/live-table';
import { ChartsPanel } from '../charts/charts-panel.ts';
import { OperatorPanel } from '../operator/operator-panel.ts';
import { captionOf, titleOf } from './caption.ts';
import type { Direction, Growth, Panel } from './layout.ts';
import { CHARTS, OPERATOR } from './destination.ts';
import { Workspace } from './workspace.ts';

const COPIED_MS = 2_000;
const CARRIED = 'application/x-tablecast-panel';
const MOVES: readonly (readonly [Direction, string])[] = [
  ['left', '←'],
  ['right', '→'],
  ['up', '↑'],
  ['down', '↓'],
];

const SIZES: readonly Growth[] = ['wider', 'narrower', 'taller', 'shorter'];

/** A frame around one table, the charts or the operator's panel, with what can be done to it. */
@Component({
  selector: 'tablecast-panel',
  imports: [ChartsPanel, LiveTableGrid, OperatorPanel],
  templateUrl: './panel.html',
})
export class PanelFrame {
  readonly panel = input.required<Panel>();

  readonly #document = inject(DOCUMENT);
  protected readonly workspace = inject(Workspace);
  protected readonly frame = viewChild.required<ElementRef<HTMLElement>>('frame');
  protected readonly menu = viewChild<ElementRef<HTMLElement>>('menu');
  protected readonly CHARTS = CHARTS;
  protected readonly OPERATOR = OPERATOR;

  protected readonly shows = computed(() => this.panel().shows);
  protected readonly title = computed(() => titleOf(this.shows()));
  protected readonly menuId = computed(() => `menu-${String(this.panel().id)}`);
  protected readonly caption = computed(() => captionOf(this.shows()));
  protected readonly active = computed(() => this.workspace.active()?.id === this.panel().id);
  protected readonly alone = computed(() => this.workspace.solo() !== null);
  /** Two-way with the grid; what it becomes goes into the layout and, of a panel that stands alone, into the address. */
  protected readonly view = linkedSignal(() => this.panel().view);
  protected readonly row = linkedSignal(() => this.workspace.row(this.panel().id));
  protected readonly copied = signal(false);
  /** The link where the browser did not let us copy it. */
  protected readonly link = linkedSignal<unknown, string | null>({ source: () => [this.panel(), this.row()], computation: () => null });
  protected readonly moves = MOVES.map(([to, key]) => ({ to, key, go: () => { this.workspace.move(this.panel().id, to); } }));
  protected readonly sizes = computed(() => {
    const { id } = this.panel();
    const { beside, above } = this.workspace.neighbours(id);
    return SIZES.map((to) => ({ to, can: to === 'wider' || to === 'narrower' ? beside : above, go: () => { this.workspace.grow(id, to); } }));
  });
  protected readonly toggleSolo = (): void => { this.workspace.toggleSolo(this.panel().id); };
  protected readonly splitRight = (): void => { this.workspace.split(this.panel().id, 'right'); };
  protected readonly splitBelow = (): void => { this.workspace.split(this.panel().id, 'below'); };
  protected readonly reset = (): void => { this.workspace.reset(); };
  protected readonly close = (): void => { this.workspace.close(this.panel().id); };

  constructor() {
    effect(() => {
      const view = this.view();
      const { id, view: known } = untracked(this.panel);
      if (view !== known) untracked(() => { this.workspace.changeView(id, view); });
    });
    effect(() => {
      const row = this.row();
      const { id } = untracked(this.panel);
      untracked(() => { if (row !== this.workspace.row(id)) this.workspace.chooseRow(id, row); });
    });
  }

  focus(): void {
    const { nativeElement } = this.frame();
    if (!nativeElement.contains(nativeElement.ownerDocument.activeElement)) nativeElement.focus();
  }

  protected activate(): void {
    this.workspace.activate(this.panel().id);
  }

  protected place(event: Event, button: HTMLElement): void {
    const menu = this.menu()?.nativeElement;
    if (menu === undefined || !('newState' in event) || event.newState !== 'open') return;
    const { bottom, right } = button.getBoundingClientRect();
    menu.style.setProperty('inset', `${String(bottom + 4)}px auto auto ${String(Math.max(8, right - menu.offsetWidth))}px`);
  }

  protected lift({ dataTransfer }: DragEvent): void {
    dataTransfer?.setData(CARRIED, String(this.panel().id));
  }

  protected hover(event: DragEvent): void {
    if (event.dataTransfer?.types.includes(CARRIED)) event.preventDefault();
  }

  protected drop(event: DragEvent): void {
    const carried = event.dataTransfer?.getData(CARRIED) ?? '';
    if (carried === '') return;
    event.preventDefault();
    this.workspace.exchange(Number(carried), this.panel().id);
  }

  protected run(task: () => void): void {
    this.menu()?.nativeElement.hidePopover();
    task();
  }

  protected async copyLink(): Promise<void> {
    const link = this.workspace.linkTo(this.panel());
    const copied = await putOnClipboard(this.#document, link);
    this.copied.set(copied);
    this.link.set(copied ? null : link);
    setTimeout(() => { this.copied.set(false); }, COPIED_MS);
  }
}
