import type { ModelRequest } from "./ports.ts";

/** A request that asks for nothing special, without its model and items. */
export const PLAIN_REQUEST: Omit<ModelRequest, "model" | "items"> = {
  instructions: null,
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  text: { format: { type: "text" }, verbosity: "medium" },
  reasoning: { effort: null, summary: null },
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  presencePenalty: null,
  frequencyPenalty: null,
  topLogprobs: null,
  user: null,
  promptCacheKey: null,
  serviceTier: null,
  metadata: {},
};
