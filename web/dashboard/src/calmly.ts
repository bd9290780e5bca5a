import type { Signal } from '@angular/core';
import { DestroyRef, effect, inject, signal, untracked } from '@angular/core';

/** Follows a signal, at most once in `ms`: what changes more often can be neither read nor worth drawing. Call it where `inject()` may be called. */
export function calmly<T>(ms: number, source: Signal<T>): Signal<T> {
  const shown = signal(untracked(source));
  let timer: ReturnType<typeof setTimeout> | null = null;
  const show = (): void => {
    shown.set(untracked(source));
    timer = setTimeout(() => {
      timer = null;
      if (untracked(source) !== untracked(shown)) show();
    }, ms);
  };
  effect(() => {
    if (source() !== untracked(shown) && timer === null) untracked(show);
  });
  inject(DestroyRef).onDestroy(() => { clearTimeout(timer ?? undefined); });
  return shown.asReadonly();
}
