import type { ResponsesApi } from "../../../packages/client/src/index.ts";

type Run = ResponsesApi.ResponseSummary;

export const SORTS = ["started", "first", "duration", "tokens", "price"] as const;
export type SortBy = (typeof SORTS)[number];

const FIGURES: Readonly<Record<SortBy, (run: Run) => number | null>> = {
  started: ({ created_at: at }) => at,
  first: ({ timing }) => timing.first_text_ms,
  duration: ({ timing }) => timing.duration_ms,
  tokens: ({ usage }) => usage?.total_tokens ?? null,
  price: ({ price }) => price?.amount ?? null,
};

/** The order of the list, and what of the runs that were read is shown. Empty texts show all. */
export interface ListOrder {
  readonly sort: SortBy;
  /** The type of a call of a tool, such as `web_search_call`. */
  readonly tool: string;
  /** The code of an error. */
  readonly error: string;
}

/** The runs that fit, the greatest figure first and those without one last. The server lists them newest first. */
export function orderRuns(runs: readonly Run[], { sort, tool, error }: ListOrder): readonly Run[] {
  const fitting = runs.filter(
    (run) => (tool === "" || run.tools.includes(tool)) && (error === "" || run.error?.code === error),
  );
  if (sort === "started") return fitting;
  const figure = FIGURES[sort];
  return fitting.toSorted((one, other) => (figure(other) ?? -1) - (figure(one) ?? -1));
}

export interface Totals {
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** By currency. */
  readonly prices: ReadonlyMap<string, number>;
}

export function totalsOf(runs: readonly Pick<Run, "usage" | "price">[]): Totals {
  const prices = new Map<string, number>();
  for (const { price } of runs)
    if (price !== null) prices.set(price.currency, (prices.get(price.currency) ?? 0) + price.amount);
  return {
    runs: runs.length,
    inputTokens: runs.reduce((sum, { usage }) => sum + (usage?.input_tokens ?? 0), 0),
    outputTokens: runs.reduce((sum, { usage }) => sum + (usage?.output_tokens ?? 0), 0),
    prices,
  };
}
