const COUNT = new Intl.NumberFormat("en");
const SHORT_COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const MINUTE = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const FULL = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const DAY_MS = 86_400_000;

/** What stands in the place of a value that is not known. */
export const UNKNOWN = "–";

export function formatCount(count: number | null): string {
  return count === null ? UNKNOWN : COUNT.format(count);
}

export function formatShortCount(count: number): string {
  return SHORT_COUNT.format(count);
}

/** A duration in milliseconds, with about three digits. */
export function formatMs(ms: number | null): string {
  if (ms === null) return UNKNOWN;
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** A time in Unix seconds, by the clock; with its date if that is not today. */
export function formatMoment(seconds: number, nowMs = Date.now()): string {
  const date = new Date(seconds * 1000);
  return new Date(nowMs).toDateString() === date.toDateString()
    ? CLOCK.format(date)
    : `${DAY.format(date)} ${MINUTE.format(date)}`;
}

export function formatFullMoment(seconds: number): string {
  return FULL.format(new Date(seconds * 1000));
}

/** The label of a time on an axis. `stepSeconds`: the distance between the times that are told apart. */
export function formatTick(
  seconds: number,
  { from, to, stepSeconds }: { readonly from: number; readonly to: number; readonly stepSeconds: number },
  nowMs = Date.now(),
): string {
  const date = new Date(seconds * 1000);
  if (stepSeconds * 1000 >= DAY_MS) return DAY.format(date);
  const days = [from * 1000, to * 1000, nowMs].map((ms) => new Date(ms).toDateString());
  return new Set(days).size === 1 ? MINUTE.format(date) : `${DAY.format(date)} ${MINUTE.format(date)}`;
}

/** An amount of money. Small amounts show four digits. */
export function formatPrice(amount: number, currency: string): string {
  const digits = Math.abs(amount) < 0.01 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 2 };
  return new Intl.NumberFormat("en", { style: "currency", currency, ...digits }).format(amount);
}

export function formatBytes(count: number): string {
  if (count < 1024) return `${count} B`;
  return count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} kB` : `${(count / 1024 ** 2).toFixed(1)} MB`;
}

/** A long text, cut to this many characters. */
export function cutText(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}

/** A status or type of the wire, as words: `in_progress` becomes `in progress`. */
export function asWords(name: string): string {
  return name.replaceAll("_", " ");
}
