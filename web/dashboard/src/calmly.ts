import type { Signal } from '@angular/core';
import { DestroyRef, effect, inject, signal, untracked } from '@angular/core';
import type { Environment } from '@tablecast/client';

/** Follows a signal, at most once in `ms`: what changes more often can be neither read nor worth drawing. Call it where `inject()` may be called. */
export function calmly<T>(environment: Environment, ms: number, source: Signal<T>): Signal<T> {
  const shown = signal(untracked(source));
  let cancel: (() => void) | null = null;
  const show = (): void => {
    shown.set(untracked(source));
    cancel = environment.after(ms, () => {
      cancel = null;
      if (untracked(source) !== untracked(shown)) show();
    });
  };
  effect(() => {
    if (source() !== untracked(shown) && cancel === null) untracked(show);
  });
  inject(DestroyRef).onDestroy(() => cancel?.());
  return shown.asReadonly();
}
