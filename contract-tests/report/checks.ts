import type { ProviderKind } from "../provider-titles.ts";

/** One thing that was looked at, at one provider or at none: some checks compare documents. */
export interface Check {
  /** The folder of the suite: "responses-api". */
  readonly suite: string;
  readonly provider: ProviderKind | null;
  /** The blocks that it stands in: "the pact of openai-sdk". */
  readonly group: string;
  readonly name: string;
  readonly result: "held" | "failed" | "skipped";
  /** Why it was skipped, what is wrong where it failed. */
  readonly reasons: readonly string[];
  readonly durationMs: number;
}

export interface Report {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly checks: readonly Check[];
}

export interface Counts {
  readonly held: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countsOf(checks: readonly Check[]): Counts {
  const count = (result: Check["result"]): number => checks.filter((check) => check.result === result).length;
  return { held: count("held"), failed: count("failed"), skipped: count("skipped") };
}
