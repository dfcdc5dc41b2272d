import type { ProviderKind } from "../provider-titles.ts";

/** One check of a provider, or of documents only. */
export interface Check {
  /** The suite's folder, such as "responses-api". */
  readonly suite: string;
  readonly provider: ProviderKind | null;
  /** The titles of the enclosing blocks, such as "the pact about events". */
  readonly group: string;
  readonly name: string;
  readonly result: "held" | "failed" | "skipped";
  /** Why the check was skipped or failed. */
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
