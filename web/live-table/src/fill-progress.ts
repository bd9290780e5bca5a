import type { Signal } from '@angular/core';
import { effect, inject, signal } from '@angular/core';
import type { Progress, TableHub } from '@tablecast/client';
import { TABLE_HUB } from './table-hub.ts';

const EVERY_MS = 1_000;

/** How far a fill has come, asked every second as long as it is wanted; null where that is not known. */
export function injectFillProgress(wanted: () => boolean): Signal<Progress | null> {
  const hub = inject(TABLE_HUB);
  const progress = signal<Progress | null>(null);
  effect((onCleanup) => {
    const asked = wanted() ? hub() : null;
    progress.set(null);
    if (asked === null) return;
    const left = new AbortController();
    void follow(asked, left.signal, (next) => { progress.set(next); });
    onCleanup(() => { left.abort(); });
  });
  return progress.asReadonly();
}

/** A fill that cannot be asked about is told of without a figure. */
async function follow(hub: TableHub, left: AbortSignal, tell: (progress: Progress | null) => void): Promise<void> {
  const gone = (): boolean => left.aborted;
  while (!gone()) {
    const progress = await hub.progress(left).catch(() => null);
    if (gone()) return;
    tell(progress);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
