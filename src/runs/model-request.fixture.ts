import type { ModelRequest } from "./ports.ts";

/** A request with default settings. */
export function aRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "m",
    instructions: null,
    items: [{ type: "message", role: "user", content: "Hi" }],
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
    ...changes,
  };
}
