import type { ModelUsage } from "../../runs/ports.ts";

const NOTHING: ModelUsage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/** The tokens of all turns of a response. */
export class UsageSum {
  #total: ModelUsage = NOTHING;
  #last: ModelUsage = NOTHING;

  get total(): ModelUsage {
    return this.#total;
  }

  /** Of the latest turn alone. */
  get last(): ModelUsage {
    return this.#last;
  }

  add(turn: ModelUsage): void {
    this.#last = turn;
    this.#total = {
      inputTokens: this.#total.inputTokens + turn.inputTokens,
      cachedTokens: this.#total.cachedTokens + turn.cachedTokens,
      cacheWriteTokens: this.#total.cacheWriteTokens + turn.cacheWriteTokens,
      outputTokens: this.#total.outputTokens + turn.outputTokens,
      reasoningTokens: this.#total.reasoningTokens + turn.reasoningTokens,
    };
  }
}

/** The usage of a turn whose model server counts nothing. */
export function estimatedUsage(inputTokens: number, outputTokens: number): ModelUsage {
  return { ...NOTHING, inputTokens, outputTokens };
}
