import type { ResponsesApi } from "../../../packages/client/src/index.ts";

/** What a line of the table of usage adds up. */
export const DIMENSIONS = ["key", "project", "model", "day"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export interface UsageLine {
  /** An id of a key, a project, a model, or the start of a day in Unix seconds. */
  readonly name: string;
  readonly requests: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** By currency. */
  readonly costs: Readonly<Record<string, number>>;
}

const NOTHING = { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, costs: {} };

/** The lines of the table: days in their order, others by their tokens. */
export function usageLines(
  usage: ResponsesApi.UsageResponse,
  costs: ResponsesApi.UsageResponse,
  by: Dimension,
): readonly UsageLine[] {
  const lines = new Map<string, UsageLine>();
  const add = (name: string, change: (line: UsageLine) => Partial<UsageLine>): void => {
    const line = lines.get(name) ?? { name, ...NOTHING };
    lines.set(name, { ...line, ...change(line) });
  };
  for (const { start_time: start, results } of [...usage.data, ...costs.data])
    for (const result of results) {
      if (result.object === "organization.usage.completions.result")
        add(nameOf(by, start, result, result.model), (line) => ({
          requests: line.requests + result.num_model_requests,
          inputTokens: line.inputTokens + result.input_tokens,
          cachedTokens: line.cachedTokens + result.input_cached_tokens,
          outputTokens: line.outputTokens + result.output_tokens,
        }));
      if (result.object === "organization.costs.result")
        add(nameOf(by, start, result, result.line_item), ({ costs: known }) => {
          const { value, currency } = result.amount;
          return { costs: { ...known, [currency]: (known[currency] ?? 0) + value } };
        });
    }
  const tokens = (line: UsageLine): number => line.inputTokens + line.outputTokens;
  return [...lines.values()].toSorted((one, other) =>
    by === "day" ? Number(one.name) - Number(other.name) : tokens(other) - tokens(one),
  );
}

function nameOf(
  by: Dimension,
  start: number,
  group: { readonly api_key_id: string | null; readonly project_id: string | null },
  model: string | null,
): string {
  switch (by) {
    case "key":
      return group.api_key_id ?? "";
    case "project":
      return group.project_id ?? "";
    case "model":
      return model ?? "";
    case "day":
      return String(start);
    default:
      return by;
  }
}
