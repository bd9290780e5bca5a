const AMOUNT = new Intl.NumberFormat('en');
const COARSE = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const DAY_MS = 86_400_000;

/** All digits: 1,234,567. */
export function amount(value: number): string {
  return AMOUNT.format(value);
}

/** As many digits as a figure that changes all the time needs. */
export function coarse(value: number): string {
  return COARSE.format(value);
}

/** 1.2K, 3.4M: for the axis of a chart. */
export function compact(value: number): string {
  return COMPACT.format(value);
}

/** The time of day; with the day where it is another one. */
export function moment(iso: string | number, now: number): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return String(iso);
  return (Math.abs(now - date.getTime()) < DAY_MS ? TIME : DAY).format(date);
}

/** How long that is, in the unit that people would say. */
export function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 1) return `${String(Math.round(seconds * 1000))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${String(Math.round(seconds))} s`;
  const minutes = seconds / 60;
  return minutes < 120 ? `${String(Math.round(minutes))} min` : `${String(Math.round(minutes / 60))} h`;
}

/** As `span`, but in whole seconds at least: for what is looked at once a second. */
export function since(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  return seconds < 10 ? `${String(seconds)} s` : span(ms);
}
