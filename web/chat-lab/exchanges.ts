import { isRecord, keep, kept } from "./kept.ts";

/** A question and its answer so far. */
export interface Exchange {
  readonly question: string;
  answer: string;
  /** `asking` until the answer is complete; `broken` if it never became so. */
  state: "asking" | "answered" | "broken";
}

export function keepExchanges(id: string, exchanges: readonly Exchange[]): void {
  keep(`${id}-exchanges`, exchanges);
}

export function keptExchanges(id: string): Exchange[] {
  const value = kept(`${id}-exchanges`);
  return Array.isArray(value) ? value.filter(isExchange) : [];
}

function isExchange(value: unknown): value is Exchange {
  if (!isRecord(value) || typeof value["question"] !== "string" || typeof value["answer"] !== "string") return false;
  return ["asking", "answered", "broken"].includes(String(value["state"]));
}
