import type { CreateResponseRequest, Response, StoredItem } from "../../generated/responses-api/types.ts";
import { estimateTokens } from "../runs/index.ts";
import type { ModelRequest } from "../runs/ports.ts";

const LOGPROBS_INCLUDE = "message.output_text.logprobs";

/** What the model is asked, from the request, its snapshot with every default filled in, and the items of its context. */
export function modelRequest(
  request: CreateResponseRequest,
  snapshot: Response,
  items: readonly StoredItem[],
): ModelRequest {
  const wantsLogprobs = (request.include ?? []).includes(LOGPROBS_INCLUDE);
  return {
    model: snapshot.model,
    instructions: typeof snapshot.instructions === "string" ? snapshot.instructions : null,
    items,
    tools: snapshot.tools,
    toolChoice: snapshot.tool_choice,
    parallelToolCalls: snapshot.parallel_tool_calls,
    text: snapshot.text,
    reasoning: { effort: snapshot.reasoning?.effort ?? null, summary: snapshot.reasoning?.summary ?? null },
    maxOutputTokens: snapshot.max_output_tokens,
    temperature: request.temperature ?? null,
    topP: request.top_p ?? null,
    presencePenalty: request.presence_penalty ?? null,
    frequencyPenalty: request.frequency_penalty ?? null,
    topLogprobs: wantsLogprobs ? (request.top_logprobs ?? 0) : null,
    user: request.user ?? request.safety_identifier ?? null,
    promptCacheKey: request.prompt_cache_key ?? null,
    serviceTier: request.service_tier ?? null,
    metadata: request.metadata ?? {},
  };
}

export function estimateInputTokens({ instructions, items, tools }: ModelRequest): number {
  const characters =
    (instructions?.length ?? 0) +
    JSON.stringify(items).length +
    (tools.length === 0 ? 0 : JSON.stringify(tools).length);
  return estimateTokens(characters);
}
