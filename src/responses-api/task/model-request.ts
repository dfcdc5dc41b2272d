import { rememberedJson } from "@antiphon/base/json/json-text.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { eachInSlices, Slices } from "@antiphon/base/limits/slices.ts";
import type { CreateResponseRequest, Response, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { estimateTokens } from "../../runs/index.ts";
import { type AcceptedTools, choiceOfTheRest } from "../offered-tools/accept-tools.ts";
import { isClientTool } from "../offered-tools/tool-kinds.ts";

const LOGPROBS_INCLUDE = "message.output_text.logprobs";

/**
 * The request to the model, from the client's request, its first snapshot with all defaults, and the items of its
 * context.
 */
export function modelRequest(
  request: CreateResponseRequest,
  snapshot: Response,
  items: readonly ContextItem[],
  offer: Pick<AcceptedTools, "hostedTools" | "omittedTools">,
): ModelRequest {
  const wantsLogprobs = (request.include ?? []).includes(LOGPROBS_INCLUDE);
  return {
    model: snapshot.model,
    instructions: typeof snapshot.instructions === "string" ? snapshot.instructions : null,
    items,
    tools: snapshot.tools.filter(isClientTool), // The tool loop adds the functions of the others.
    toolChoice: choiceOfTheRest(snapshot.tool_choice, offer),
    parallelToolCalls: snapshot.parallel_tool_calls,
    text: snapshot.text,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: snapshot.reasoning?.summary ?? null },
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

type ConfigurationUpdate = Extract<StoredItem, { type: "configuration_update" }>;

/**
 * The request with the settings of all `configuration_update` items so far. They override the request's own settings.
 */
export function withConfiguration(
  request: CreateResponseRequest,
  ...lists: readonly (readonly StoredItem[])[]
): CreateResponseRequest {
  const updates = lists.flatMap((items) => items.filter(isUpdate));
  if (updates.length === 0) return request;
  const effort = updates.findLast(({ reasoning }) => reasoning?.effort != null)?.reasoning?.effort;
  const format = updates.findLast(({ text }) => text !== undefined)?.text?.format;
  return {
    ...request,
    ...(effort == null ? {} : { reasoning: { ...request.reasoning, effort } }),
    ...(format === undefined ? {} : { text: { ...request.text, format } }),
  };
}

function isUpdate(item: StoredItem): item is ConfigurationUpdate {
  return item.type === "configuration_update";
}

export async function estimateInputTokens({ instructions, items, tools }: ModelRequest): Promise<number> {
  const slices = new Slices();
  let characters = (instructions?.length ?? 0) + (tools.length === 0 ? 0 : 1) + 1;
  const add = (element: object): void => {
    characters += shownCharacters(element) + 1;
  };
  await eachInSlices(tools, add, slices);
  await eachInSlices(items, add, slices);
  return estimateTokens(characters);
}

/** A picture, file or recording is counted as a text of this length, whatever its size. */
const ATTACHMENT_CHARACTERS = 4000;
/** A shorter `data` member, and whatever shorter JSON holds, is counted as text. */
const ATTACHMENT_MIN = 1000;
const QUOTES = 2;

/**
 * The length of a value's JSON, but for escapes, with each base64 attachment counted as `ATTACHMENT_CHARACTERS`. It
 * reads no text, so that megabytes cost no more than a word.
 */
export function shownCharacters(value: unknown): number {
  const json = typeof value === "object" && value !== null ? rememberedJson(value) : null;
  // Items read from the store keep their JSON.
  return json !== null && json.length < ATTACHMENT_MIN ? json.length : charactersOf(value, "");
}

function charactersOf(value: unknown, name: string): number {
  if (typeof value === "string") return isAttachment(value, name) ? ATTACHMENT_CHARACTERS : value.length + QUOTES;
  let characters = 1; // A comma follows each member but the last, and two brackets are around all.
  if (Array.isArray(value)) {
    for (const element of value) characters += charactersOf(element, "") + 1;
  } else if (isRecord(value)) {
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (member !== undefined) characters += key.length + QUOTES + 1 + charactersOf(member, key) + 1;
    }
  } else return String(value).length;
  return Math.max(characters, 2);
}

function isAttachment(text: string, name: string): boolean {
  return text.startsWith("data:") || (name === "data" && text.length >= ATTACHMENT_MIN);
}
