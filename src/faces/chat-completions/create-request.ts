import type { CreateChatCompletionRequest } from "@antiphon/contracts/chat-completions/types.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelExtras } from "@antiphon/domain/models/model-request.ts";
import { definedMembers } from "../defined-members.ts";
import { inputItems } from "./request-messages.ts";
import { chatTools, textFormat, toolChoice } from "./request-tools.ts";
import type { OpeningSeal } from "./sealed-answer.ts";

/** The tiers that the Responses API knows. Others, which a client may have from another provider, count as unset. */
const SERVICE_TIERS: ReadonlySet<unknown> = new Set([
  "auto",
  "default",
  "fast",
  "flex",
  "priority",
  "scale",
  "ultrafast",
]);

/**
 * The create request that a chat completion stands for. Members without a value there are left out. Throws an
 * `ApiError` if a message has a sound that is not known.
 */
export function createRequest(body: CreateChatCompletionRequest, seal: OpeningSeal): CreateResponseRequest {
  const tools = chatTools(body);
  const choice = toolChoice(body);
  return definedMembers({
    model: body.model,
    input: inputItems(body.messages, seal),
    ...(tools.length === 0 ? {} : { tools }),
    tool_choice: tools.length === 0 ? null : choice,
    // The deprecated form has room for one call.
    parallel_tool_calls: body.functions == null ? body.parallel_tool_calls : false,
    max_output_tokens: body.max_completion_tokens ?? body.max_tokens,
    temperature: body.temperature,
    top_p: body.top_p,
    presence_penalty: body.presence_penalty,
    frequency_penalty: body.frequency_penalty,
    metadata: body.metadata,
    user: body.user,
    safety_identifier: body.safety_identifier,
    prompt_cache_key: body.prompt_cache_key,
    prompt_cache_options: body.prompt_cache_options,
    service_tier: serviceTier(body.service_tier),
    ...answerWishes(body),
    include: included(body, tools),
    stream: body.stream,
    stream_options: { include_obfuscation: false },
    store: body.store ?? false,
  });
}

/** What the answer should be like. */
function answerWishes(body: CreateChatCompletionRequest) {
  const { response_format: format, verbosity, reasoning_effort: effort, logprobs, top_logprobs: alternatives } = body;
  return {
    text:
      format == null && verbosity == null
        ? null
        : definedMembers({ format: format == null ? null : textFormat(format), verbosity }),
    reasoning: effort == null ? null : { effort },
    ...(logprobs === true ? { top_logprobs: alternatives ?? 0 } : {}),
    output_audio: spokenOutput(body),
  };
}

type Include = NonNullable<CreateResponseRequest["include"]>[number];

/** What the items of tools of this server need to be shown to the model again. */
const HOSTED_INCLUDE: readonly Include[] = [
  "web_search_call.results",
  "file_search_call.results",
  "code_interpreter_call.outputs",
  "reasoning.encrypted_content",
];

/** Null if nothing is to be included. */
function included(
  { logprobs }: CreateChatCompletionRequest,
  tools: readonly { readonly type: string }[],
): Include[] | null {
  const isHosted = tools.some(({ type }) => type !== "function" && type !== "custom");
  const include: Include[] = [
    ...(logprobs === true ? ["message.output_text.logprobs" as const] : []),
    ...(isHosted ? HOSTED_INCLUDE : []),
  ];
  return include.length === 0 ? null : include;
}

function spokenOutput({ modalities, audio }: CreateChatCompletionRequest): CreateResponseRequest["output_audio"] {
  if (audio == null || modalities?.includes("audio") !== true) return null;
  const { voice, format } = audio;
  if (format === "aac" || format === "flac") return null; // Refused before.
  return { voice: typeof voice === "string" ? voice : voice.id, format };
}

function serviceTier(tier: string | null | undefined): CreateResponseRequest["service_tier"] {
  return isServiceTier(tier) ? tier : null;
}

function isServiceTier(tier: unknown): tier is NonNullable<CreateResponseRequest["service_tier"]> {
  return SERVICE_TIERS.has(tier);
}

/** The members that the contract lists. Those with true are sent on to the model server as they are. */
const MEMBERS: Readonly<Record<keyof CreateChatCompletionRequest, boolean>> = {
  audio: false,
  frequency_penalty: false,
  function_call: false,
  functions: false,
  logit_bias: true,
  logprobs: false,
  max_completion_tokens: false,
  max_tokens: false,
  messages: false,
  metadata: false,
  modalities: false,
  model: false,
  n: false,
  parallel_tool_calls: false,
  prediction: false,
  presence_penalty: false,
  prompt_cache_key: false,
  prompt_cache_options: false,
  prompt_cache_retention: false,
  reasoning_effort: false,
  response_format: false,
  safety_identifier: false,
  seed: true,
  service_tier: false,
  stop: true,
  store: false,
  stream: false,
  stream_options: false,
  temperature: false,
  tool_choice: false,
  tools: false,
  top_logprobs: false,
  top_p: false,
  user: false,
  verbosity: false,
  web_search_options: false,
};

/** The settings that only the model server knows; null if there are none. */
export function modelExtras(body: CreateChatCompletionRequest): ModelExtras | null {
  const standard: Record<string, unknown> = {};
  const unknown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined) continue;
    if (!isMember(name)) unknown[name] = value;
    else if (MEMBERS[name]) standard[name] = value;
  }
  const isEmpty = Object.keys(standard).length === 0 && Object.keys(unknown).length === 0;
  return isEmpty ? null : { standard, unknown, stop: stopSequences(body.stop) };
}

function isMember(name: string): name is keyof CreateChatCompletionRequest {
  return Object.hasOwn(MEMBERS, name);
}

function stopSequences(stop: CreateChatCompletionRequest["stop"]): readonly string[] {
  const sequences = typeof stop === "string" ? [stop] : (stop ?? []);
  return sequences.filter((sequence) => sequence !== "");
}
