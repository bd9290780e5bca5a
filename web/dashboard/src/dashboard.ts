import { Component, inject, viewChild } from '@angular/core';
import { provideTableHub } from '@tablecast/live-table';
import { Login } from './login.ts';
import { PanelGrid } from './panels/panel-grid.ts';
import { CHARTS, OPERATOR } from './panels/destination.ts';
import { Workspace } from './panels/workspace.ts';
import { Session } from './session.ts';
import { ShortcutList } from './shortcut-list.ts';
import type { Command } from './shortcuts.ts';
import { commandOf } from './shortcuts.ts';
import { Filling } from './status/filling.ts';
import { Notices } from './status/notices.ts';
import { StatusBar } from './status/status-bar.ts';
import { TablePicker } from './table-picker.ts';
import { Theme, THEMES } from './theme.ts';

@Component({
  selector: 'tablecast-dashboard',
  imports: [Filling, Login, Notices, PanelGrid, ShortcutList, StatusBar, TablePicker],
  providers: [provideTableHub(() => inject(Session).hub)],
  templateUrl: './dashboard.html',
  host: {
    '(window:hashchange)': 'followAddress()',
    '(window:keydown)': 'press($event)',
  },
})
export class Dashboard {
  protected readonly session = inject(Session);
  protected readonly workspace = inject(Workspace);
  protected readonly theme = inject(Theme);
  protected readonly themes = THEMES;
  protected readonly shortcuts = viewChild(ShortcutList);

  constructor() {
    this.session.resume();
  }

  protected followAddress(): void {
    this.session.followAddress();
    this.workspace.followAddress();
  }

  protected press(event: KeyboardEvent): void {
    const command = commandOf(event);
    if (command === null || !this.session.entered()) return;
    event.preventDefault();
    this.#run(command, this.workspace.active()?.id ?? 0);
  }

  protected showShortcuts(): void {
    this.shortcuts()?.open();
  }

  /** The address keeps its place: the skip link only moves the focus. */
  protected skip(event: Event, main: HTMLElement): void {
    event.preventDefault();
    (main.querySelector<HTMLElement>('.panel') ?? main).focus();
  }

  #run(command: Command, id: number): void {
    const { workspace } = this;
    const commands: Readonly<Record<Command, () => void>> = {
      left: () => { workspace.move(id, 'left'); },
      right: () => { workspace.move(id, 'right'); },
      up: () => { workspace.move(id, 'up'); },
      down: () => { workspace.move(id, 'down'); },
      'split-right': () => { workspace.split(id, 'right'); },
      'split-below': () => { workspace.split(id, 'below'); },
      close: () => { workspace.close(id); },
      solo: () => { workspace.toggleSolo(id); },
      next: () => { workspace.step(1); },
      previous: () => { workspace.step(-1); },
      charts: () => { workspace.open(CHARTS); },
      operator: () => { workspace.open(OPERATOR); },
      theme: () => { this.theme.choose(THEMES[(THEMES.indexOf(this.theme.choice()) + 1) % THEMES.length] ?? 'system'); },
      help: () => { this.showShortcuts(); },
    };
    commands[command]();
  }
}
