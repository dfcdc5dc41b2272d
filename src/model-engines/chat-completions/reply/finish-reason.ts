import { brokenAnswer } from "../../model-server/errors/model-errors.ts";

export type ChatFinishReason = "stop" | "length" | "content_filter";

const LENGTH: ReadonlySet<string> = new Set(["length", "max_tokens", "model_length", "max_output_tokens"]);
const FILTERED: ReadonlySet<string> = new Set([
  "content_filter",
  "safety",
  "sensitive",
  "recitation",
  "blocklist",
  "prohibited_content",
]);
const FAILED: ReadonlySet<string> = new Set([
  "error",
  "abort",
  "cancelled",
  "insufficient_system_resource",
  "network_error",
  "malformed_function_call",
]);

/**
 * Translates a finish reason. Any reason that means no limit, filter or failure is an ordinary end: stop, tool_calls,
 * eos, end_turn, … Throws `ModelError` for a failure.
 */
export function readFinishReason(reason: string): ChatFinishReason {
  const word = reason.toLowerCase();
  if (LENGTH.has(word)) return "length";
  if (FILTERED.has(word)) return "content_filter";
  if (FAILED.has(word)) throw brokenAnswer(`gave up in the middle of its answer (${word})`);
  return "stop";
}
