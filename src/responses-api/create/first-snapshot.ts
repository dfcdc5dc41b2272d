import type { CreateResponseRequest, Response, Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { ReasoningDefaults } from "@antiphon/domain/models/model-engine.ts";
import { conversationIdOf } from "../input/conversation-lock.ts";
import { settleStrictness } from "../offered-tools/strict-form.ts";

/** Inputs of a request's echo besides the request. */
export interface EchoedSettings {
  readonly tools: readonly Tool[];
  /** The model's defaults; null if unknown. */
  readonly reasoning: ReasoningDefaults | null;
}

/** The snapshot of `response.created`: the request's settings with every default filled in, and no output. */
export function firstSnapshot(
  request: CreateResponseRequest,
  { tools, reasoning }: EchoedSettings,
  id: string,
  createdAt: number,
): Response {
  return {
    id,
    object: "response",
    created_at: createdAt,
    status: request.background === true ? "queued" : "in_progress",
    access_programs: null,
    background: request.background === true,
    completed_at: null,
    ...conversationEcho(request),
    error: null,
    frequency_penalty: request.frequency_penalty ?? 0,
    ...imageEcho(request),
    incomplete_details: null,
    instructions: instructionsText(request),
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    model: request.model ?? "",
    moderation: null,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    presence_penalty: request.presence_penalty ?? 0,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    ...promptCacheEcho(request),
    prompt_cache_retention: request.prompt_cache_retention ?? null,
    reasoning: reasoningEcho(request, reasoning),
    safety_identifier: request.safety_identifier ?? null,
    service_tier: tierEcho(request),
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: textEcho(request),
    tool_choice: request.tool_choice ?? "auto",
    tool_usage: NO_TOOL_USAGE,
    tools: [...tools],
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? "disabled",
    usage: null,
    user: request.user ?? null,
    metadata: request.metadata ?? {},
  };
}

/** Joins an array of instructions with blank lines. The echo shows the joined text. */
export function instructionsText({ instructions }: CreateResponseRequest): string | null {
  if (!Array.isArray(instructions)) return instructions ?? null;
  return instructions.map((part) => part.text).join("\n\n");
}

function conversationEcho(request: CreateResponseRequest): Pick<Response, "conversation"> {
  const id = conversationIdOf(request);
  return id === null ? {} : { conversation: { id } };
}

/** This server never compresses pictures, whatever the request says. */
function imageEcho({ image }: CreateResponseRequest): Pick<Response, "image"> {
  return image == null ? {} : { image: { context_compression: "disabled" } };
}

function promptCacheEcho({
  prompt_cache_options: options,
}: CreateResponseRequest): Pick<Response, "prompt_cache_options" | "prompt_cache_diagnostics"> {
  if (options == null) return {};
  const { comparison_response_id: comparisonId } = options;
  const appliedOptions = { mode: options.mode ?? "implicit", ttl: options.ttl ?? "30m" };
  if (comparisonId == null) return { prompt_cache_options: appliedOptions };
  return {
    prompt_cache_diagnostics: { type: "unavailable" }, // Model servers do not report their caches.
    prompt_cache_options: { comparison_response_id: comparisonId, ...appliedOptions },
  };
}

/** Members missing in the request are filled in from the model's defaults, and are null without them. */
function reasoningEcho(
  { reasoning }: CreateResponseRequest,
  defaults: ReasoningDefaults | null,
): Response["reasoning"] {
  const mode = reasoning?.mode ?? defaults?.mode;
  return {
    context: contextEcho(reasoning, defaults),
    effort: reasoning?.effort ?? defaults?.effort ?? null,
    ...(mode === undefined ? {} : { mode }),
    summary: summaryEcho(reasoning),
  };
}

type AskedReasoning = CreateResponseRequest["reasoning"];

/** Echoes `auto` as its actual value, for any request with a reasoning setting. */
function contextEcho(
  reasoning: AskedReasoning,
  defaults: ReasoningDefaults | null,
): "current_turn" | "all_turns" | null {
  const context = reasoning?.context ?? null;
  if (context !== null && context !== "auto") return context;
  if (defaults !== null) return defaults.context;
  const settings = [context, reasoning?.effort, reasoning?.mode, summaryEcho(reasoning)];
  return settings.some((setting) => setting != null) ? "current_turn" : null;
}

function summaryEcho(reasoning: AskedReasoning): "concise" | "detailed" | null {
  const summary = reasoning?.summary ?? (reasoning?.enable_chain_of_thought === true ? "auto" : null);
  return summary === "auto" ? "detailed" : summary;
}

/** `auto` until the serving tier is known; a tier named in the request is echoed from the start. */
function tierEcho({ service_tier: tier }: CreateResponseRequest): Response["service_tier"] {
  if (tier == null || tier === "default") return "auto";
  return tier === "fast" ? "priority" : tier; // Both names mean the same tier.
}

function textEcho({ text }: CreateResponseRequest): Response["text"] {
  const verbosity = text?.verbosity ?? "medium";
  const format = text?.format ?? { type: "text" as const };
  if (format.type !== "json_schema") return { format, verbosity };
  const { description = null, name, schema, strict } = format;
  return { format: { type: "json_schema", description, name, ...settleStrictness(schema, strict) }, verbosity };
}

const NO_TOKENS = {
  input_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { image_tokens: 0, text_tokens: 0 },
  total_tokens: 0,
};

const NO_TOOL_USAGE: Response["tool_usage"] = { image_gen: NO_TOKENS, web_search: { num_requests: 0 } };
