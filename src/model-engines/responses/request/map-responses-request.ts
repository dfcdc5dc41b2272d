import { Slices } from "@antiphon/base/limits/slices.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { ToolNames } from "../../context/tool-names.ts";
import { mapItems } from "./map-items.ts";
import { chooseWireTools, mapWireTools } from "./map-tools.ts";
import type { ResponsesRequest } from "./responses-wire.ts";

/** The default verbosity, which is not sent. */
const USUAL_VERBOSITY = "medium";
/** Default service tiers, which are not sent. */
const USUAL_TIERS: ReadonlySet<string> = new Set(["auto", "default"]);
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";
const LOGPROBS = "message.output_text.logprobs";

/** How a request is written for one server. */
export interface RequestForm {
  /** See `serverKey`. */
  readonly server: string;
  /** Whether it is OpenAI's own API, which takes no foreign reasoning and no members that it does not know. */
  readonly isReference: boolean;
  /** Whether reasoning is asked for in encrypted form. */
  readonly asksForSeals: boolean;
  /** Whether reasoning that the server encrypted is sent back. */
  readonly sendsSeals: boolean;
}

export interface MappedResponsesRequest {
  readonly body: ResponsesRequest;
  /** Translates the names of called tools back. */
  readonly toolNames: ToolNames;
}

/**
 * Maps a turn to a request of the Responses API. Throws `ModelError` for anything that cannot be expressed there.
 * `metadata` is not sent, because it is the client's.
 */
export async function mapResponsesRequest(request: ModelRequest, form: RequestForm): Promise<MappedResponsesRequest> {
  const toolNames = new ToolNames();
  const slices = new Slices();
  const tools = toolFields(request, toolNames, form); // First, because the items need the names of hosted functions.
  if (slices.isOver) await slices.next();
  const input = await mapItems(request.items, toolNames, {
    server: form.sendsSeals ? form.server : null,
    acceptsText: !form.isReference,
  });
  if (slices.isOver) await slices.next();
  const { model, instructions } = request;
  const body: ResponsesRequest = {
    ...extraFields(request, form),
    model,
    input,
    stream: true,
    store: false,
    ...includeField(request, form),
    ...(instructions === null ? {} : { instructions }),
    ...tools,
    ...textField(request),
    ...reasoningField(request),
    ...samplingFields(request),
    ...callerFields(request),
  };
  return { body, toolNames };
}

function includeField({ topLogprobs }: ModelRequest, { asksForSeals }: RequestForm): Partial<ResponsesRequest> {
  const include = [...(asksForSeals ? [ENCRYPTED_REASONING] : []), ...(topLogprobs === null ? [] : [LOGPROBS])];
  return include.length === 0 ? {} : { include };
}

function toolFields(request: ModelRequest, names: ToolNames, { isReference }: RequestForm): Partial<ResponsesRequest> {
  const all = mapWireTools(request.tools, names);
  if (all.length === 0) return {};
  const { tools, choice } = chooseWireTools(request.toolChoice, all, { names, knowsAllowedTools: isReference });
  return {
    tools,
    ...(choice === "auto" ? {} : { tool_choice: choice }), // The default; some servers refuse it if sent.
    parallel_tool_calls: request.parallelToolCalls,
  };
}

function textField({ text: { format, verbosity } }: ModelRequest): Partial<ResponsesRequest> {
  const text = {
    ...(format === null || format === undefined || format.type === "text" ? {} : { format: givenMembers(format) }),
    ...(verbosity === null || verbosity === undefined || verbosity === USUAL_VERBOSITY ? {} : { verbosity }),
  };
  return Object.keys(text).length === 0 ? {} : { text };
}

/** Without members that are null, which not every server takes. */
function givenMembers(format: object): object {
  return Object.fromEntries(Object.entries(format).filter(([, value]) => value !== null && value !== undefined));
}

function reasoningField({ reasoning: { effort, summary } }: ModelRequest): Partial<ResponsesRequest> {
  if (effort === null && summary === null) return {};
  return { reasoning: { ...(effort === null ? {} : { effort }), ...(summary === null ? {} : { summary }) } };
}

function samplingFields(request: ModelRequest): Partial<ResponsesRequest> {
  const { maxOutputTokens, temperature, topP, presencePenalty, frequencyPenalty, topLogprobs } = request;
  return {
    ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
    ...(temperature === null ? {} : { temperature }), // Even if it is 1: local servers have other defaults.
    ...(topP === null ? {} : { top_p: topP }),
    ...(presencePenalty === null || presencePenalty === 0 ? {} : { presence_penalty: presencePenalty }),
    ...(frequencyPenalty === null || frequencyPenalty === 0 ? {} : { frequency_penalty: frequencyPenalty }),
    ...(topLogprobs === null || topLogprobs === 0 ? {} : { top_logprobs: topLogprobs }),
  };
}

function callerFields({ user, promptCacheKey, serviceTier }: ModelRequest): Partial<ResponsesRequest> {
  return {
    ...(user === null ? {} : { user }),
    ...(promptCacheKey === null ? {} : { prompt_cache_key: promptCacheKey }),
    ...(serviceTier === null || USUAL_TIERS.has(serviceTier) ? {} : { service_tier: serviceTier }),
  };
}

/**
 * Members that the Responses API lacks, such as `seed` and `top_k`. Some servers know them in it, too; the reference
 * does not. This server itself ends answers at `stop`.
 */
function extraFields(request: ModelRequest, { isReference }: RequestForm): Readonly<Record<string, unknown>> {
  return isReference ? {} : extraMembers(request);
}

/** The members of `extras` that a server of the Responses API could be sent. */
export function extraMembers({ extras }: Pick<ModelRequest, "extras">): Readonly<Record<string, unknown>> {
  if (extras === null || extras === undefined) return {};
  const { stop: _stop, ...standard } = extras.standard;
  return { ...extras.unknown, ...standard };
}
