import type { BudgetPeriod } from "@antiphon/domain/keys.ts";

const DAY_SECONDS = 86_400;
const WEEK_DAYS = 7;
/** The first day of Unix time was a Thursday. */
const DAYS_SINCE_MONDAY = 3;

/** Times in Unix seconds. */
export interface PeriodBounds {
  readonly start: number;
  /** When the next period begins; null if there is none. */
  readonly end: number | null;
}

/** The period of UTC in which a time falls. */
export function periodBounds(period: BudgetPeriod, at: number): PeriodBounds {
  if (period === "total") return { start: 0, end: null };
  if (period === "month") return monthBounds(new Date(at * 1000));
  const day = Math.floor(at / DAY_SECONDS);
  const days = period === "day" ? 1 : WEEK_DAYS;
  const first = period === "day" ? day : day - ((day + DAYS_SINCE_MONDAY) % WEEK_DAYS);
  return { start: first * DAY_SECONDS, end: (first + days) * DAY_SECONDS };
}

function monthBounds(date: Date): PeriodBounds {
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { start: Date.UTC(year, month) / 1000, end: Date.UTC(year, month + 1) / 1000 };
}
