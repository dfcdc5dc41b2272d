import { assertNever } from "@antiphon/base/assert.ts";
import { eachInSlices, Slices } from "@antiphon/base/limits/slices.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ChatRequest, ChatResponseFormat } from "../../context/chat-wire.ts";
import type { HistoryStep } from "../../context/history.ts";
import { isHostedExchange, readExchange, withLastPictures } from "../../context/hosted-exchanges.ts";
import { mapToolChoice } from "../../context/map-tool-choice.ts";
import { mapTools } from "../../context/map-tools.ts";
import { readItem } from "../../context/read-items.ts";
import { ToolNames } from "../../context/tool-names.ts";
import type { BackendProfile } from "../profile.ts";
import { arrangeMessages } from "./arrange-messages.ts";

/** The default verbosity, which is not sent. */
const USUAL_VERBOSITY = "medium";
/** Default service tiers, which are not sent. */
export const USUAL_TIERS: ReadonlySet<string> = new Set(["auto", "default"]);

export interface MappedRequest {
  readonly body: ChatRequest;
  /** Translates the names of called tools back. */
  readonly toolNames: ToolNames;
}

/** Maps a turn to a chat-completions request. Throws `ModelError` for anything that cannot be expressed there. */
export async function mapRequest(request: ModelRequest, profile: BackendProfile): Promise<MappedRequest> {
  const toolNames = new ToolNames();
  const slices = new Slices();
  const tools = toolFields(request, toolNames); // First, because the history needs the names of hosted functions.
  if (slices.isOver) await slices.next();
  const steps: HistoryStep[] = [];
  await eachInSlices(withLastPictures(request.items), (item, position) => {
    const read = isHostedExchange(item) ? readExchange(item, toolNames, position) : readItem(item, position);
    if ("type" in read) steps.push(read);
    else steps.push(...read);
  });
  const messages = await arrangeMessages(request.instructions, steps, profile);
  if (slices.isOver) await slices.next();
  const body: ChatRequest = {
    model: request.model,
    messages,
    stream: true,
    stream_options: { include_usage: true }, // Most servers send no token counts without it.
    ...tools,
    ...textFields(request),
    ...samplingFields(request, profile),
    ...vendorFields(request, profile),
    ...extraFields(request, profile),
  };
  return { body, toolNames };
}

function toolFields(request: ModelRequest, names: ToolNames): Partial<ChatRequest> {
  const all = mapTools(request.tools, names);
  if (all.length === 0) return {};
  const { tools, choice } = mapToolChoice(request.toolChoice, uniqueByName(all), names);
  return {
    tools,
    ...(choice === "auto" ? {} : { tool_choice: choice }), // The default; some servers refuse it if sent.
    parallel_tool_calls: request.parallelToolCalls,
  };
}

function uniqueByName<T extends { readonly function: { readonly name: string } }>(tools: readonly T[]): readonly T[] {
  return [...new Map(tools.map((tool) => [tool.function.name, tool])).values()];
}

function textFields(request: ModelRequest): Partial<ChatRequest> {
  const { format, verbosity } = request.text;
  const responseFormat = format === null || format === undefined ? null : mapFormat(format);
  return {
    ...(responseFormat === null ? {} : { response_format: responseFormat }),
    ...(verbosity === null || verbosity === undefined || verbosity === USUAL_VERBOSITY ? {} : { verbosity }),
  };
}

function mapFormat(format: NonNullable<ModelRequest["text"]["format"]>): ChatResponseFormat | null {
  switch (format.type) {
    case "text":
      return null;
    case "json_object":
      return { type: "json_object" };
    case "json_schema": {
      const { name, schema, strict, description } = format;
      const hasStrict = strict !== null && strict !== undefined;
      const hasDescription = description !== null && description !== undefined;
      return {
        type: "json_schema",
        json_schema: { name, schema, ...(hasStrict ? { strict } : {}), ...(hasDescription ? { description } : {}) },
      };
    }
    default:
      return assertNever(format);
  }
}

function samplingFields(request: ModelRequest, profile: BackendProfile): Partial<ChatRequest> {
  const { maxOutputTokens, temperature, topP, presencePenalty, frequencyPenalty, topLogprobs } = request;
  const { effort } = request.reasoning;
  return {
    ...(maxOutputTokens === null ? {} : { [profile.outputLimitField]: maxOutputTokens }),
    ...(temperature === null ? {} : { temperature }), // Even if it is 1: local servers have other defaults.
    ...(topP === null ? {} : { top_p: topP }),
    ...(presencePenalty === null || presencePenalty === 0 ? {} : { presence_penalty: presencePenalty }),
    ...(frequencyPenalty === null || frequencyPenalty === 0 ? {} : { frequency_penalty: frequencyPenalty }),
    ...(topLogprobs === null ? {} : { logprobs: true, ...(topLogprobs === 0 ? {} : { top_logprobs: topLogprobs }) }),
    ...(effort === null ? {} : { reasoning_effort: effort }),
  };
}

/** `metadata` is not sent, because the reference's chat completions reject it unless they store the turn. */
function vendorFields(request: ModelRequest, profile: BackendProfile): Partial<ChatRequest> {
  const { user, promptCacheKey, serviceTier } = request;
  return {
    ...(user === null ? {} : { user }),
    ...(profile.knowsVendorFields && promptCacheKey !== null ? { prompt_cache_key: promptCacheKey } : {}),
    ...(profile.knowsVendorFields && serviceTier !== null && !USUAL_TIERS.has(serviceTier)
      ? { service_tier: serviceTier }
      : {}),
  };
}

/** Members that clients of chat completions sent. Only servers of other vendors get those that the reference lacks. */
function extraFields({ extras }: ModelRequest, profile: BackendProfile): Readonly<Record<string, unknown>> {
  if (extras == null) return {};
  return profile.knowsVendorFields ? extras.standard : { ...extras.unknown, ...extras.standard };
}
