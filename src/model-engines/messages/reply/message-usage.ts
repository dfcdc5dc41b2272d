import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import { countOrZero, type JsonObject } from "../../model-server/json-values.ts";

/** The counts of a message, which its later events correct. Cached tokens are not among the input tokens there. */
export class MessageUsage {
  #counts: JsonObject = {};
  #hasOutput = false;

  /** Takes the members that are numbers. `isFinal`: whether the output is counted. */
  add(usage: unknown, isFinal: boolean): void {
    if (!isRecord(usage)) return;
    const given = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
    this.#counts = { ...this.#counts, ...Object.fromEntries(given) };
    if (isFinal && typeof usage["output_tokens"] === "number") this.#hasOutput = true;
  }

  /** Null if the server has not counted the answer. */
  get total(): ModelUsage | null {
    if (!this.#hasOutput) return null;
    const { output_tokens_details: details } = this.#counts;
    const cachedTokens = countOrZero(this.#counts["cache_read_input_tokens"]);
    const cacheWriteTokens = countOrZero(this.#counts["cache_creation_input_tokens"]);
    return {
      inputTokens: countOrZero(this.#counts["input_tokens"]) + cachedTokens + cacheWriteTokens,
      cachedTokens,
      cacheWriteTokens,
      outputTokens: countOrZero(this.#counts["output_tokens"]),
      reasoningTokens: isRecord(details) ? countOrZero(details["thinking_tokens"]) : 0,
    };
  }
}
