import type { Signal } from '@angular/core';
import { effect } from '@angular/core';
import type { Environment } from '@tablecast/client';

/** Runs `task` at once and then `ms` after each end of it, while `wanted()`. A task that fails is tried again like any other. */
export function repeatWhile(environment: Environment, ms: number, wanted: Signal<boolean>, task: (signal: AbortSignal) => Promise<void>): void {
  effect((onCleanup) => {
    if (!wanted()) return;
    const ended = new AbortController();
    let cancel = (): void => undefined;
    const run = (): void => {
      void task(ended.signal)
        .catch(() => undefined)
        .then(() => {
          if (!ended.signal.aborted) cancel = environment.after(ms, run);
        });
    };
    run();
    onCleanup(() => {
      ended.abort();
      cancel();
    });
  });
}
