import { eachInSlices, Slices } from "@antiphon/base/limits/slices.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ChatTool, ChatToolChoice } from "../../context/chat-wire.ts";
import { isHostedExchange, readExchange, withLastPictures } from "../../context/hosted-exchanges.ts";
import { mapToolChoice } from "../../context/map-tool-choice.ts";
import { mapTools } from "../../context/map-tools.ts";
import { readItem } from "../../context/read-items.ts";
import { ToolNames } from "../../context/tool-names.ts";
import { thinkingBlock } from "../sealed-thinking.ts";
import { arrangeTurns, type TurnStep } from "./arrange-turns.ts";
import { withCacheMarks } from "./cache-marks.ts";
import type { MessagesRequest, MessagesTool, MessagesToolChoice, OutputConfig } from "./messages-wire.ts";
import { answerTokensMax, type RequestForms } from "./request-forms.ts";
import { effortOf, thinkingOf, thinks } from "./thinking.ts";

/** The highest temperature of this API. */
export const TEMPERATURE_MAX = 1;

export interface MappedMessages {
  readonly body: MessagesRequest;
  /** Translates the names of called tools back. */
  readonly toolNames: ToolNames;
}

/** Maps a turn to a request for a message. Throws `ModelError` for anything that cannot be expressed there. */
export async function mapToMessages(request: ModelRequest, forms: RequestForms): Promise<MappedMessages> {
  const toolNames = new ToolNames();
  const slices = new Slices();
  const tools = mapTools(request.tools, toolNames); // First, because the history needs the names of hosted functions.
  if (slices.isOver) await slices.next();
  const steps: TurnStep[] = [];
  await eachInSlices(withLastPictures(request.items), (item, position) =>
    steps.push(...stepsOf(item, toolNames, position, forms)),
  );
  const { system, messages, calledNames } = await arrangeTurns(request.instructions, steps);
  if (slices.isOver) await slices.next();
  const words = formatWords(request, forms);
  const maxTokens = answerTokensMax(request, forms);
  const texts = words === null ? system : [...system, words];
  const body: MessagesRequest = {
    model: request.model,
    max_tokens: maxTokens,
    messages,
    stream: true,
    ...(texts.length === 0 ? {} : { system: texts.map((text) => ({ type: "text", text })) }),
    ...toolFields(request, tools, { names: toolNames, calledNames, forms }),
    ...thinkingFields(request, forms, maxTokens),
    ...stopFields(request),
    ...(request.user === null ? {} : { metadata: { user_id: request.user } }),
  };
  const whole = { ...body, ...samplingFields(request, forms, thinks(body)) };
  return { body: forms.cacheMarks ? withCacheMarks(whole) : whole, toolNames };
}

/** Reasoning that this API did not sign is left out, because it would be refused. */
function stepsOf(item: ContextItem, names: ToolNames, position: number, forms: RequestForms): readonly TurnStep[] {
  if (item.type === "reasoning") {
    const block = forms.keepsThinking ? thinkingBlock(item) : null;
    return block === null ? [] : [{ type: "thinking", block }];
  }
  const read = isHostedExchange(item) ? readExchange(item, names, position) : readItem(item, position);
  const steps = "type" in read ? [read] : read;
  return steps.flatMap((step) => (step.type === "reasoning" ? [] : [step]));
}

interface ToolParts {
  readonly names: ToolNames;
  readonly calledNames: ReadonlySet<string>;
  readonly forms: RequestForms;
}

function toolFields(
  request: ModelRequest,
  all: readonly ChatTool[],
  { names, calledNames, forms }: ToolParts,
): Partial<MessagesRequest> {
  if (all.length === 0) return toolsOfHistory(calledNames);
  const unique = [...new Map(all.map((tool) => [tool.function.name, tool])).values()];
  const { tools, choice } = mapToolChoice(request.toolChoice, unique, names);
  if (tools.length === 0) return toolsOfHistory(calledNames);
  const toolChoice = choiceOf(choice, request.parallelToolCalls);
  return {
    tools: tools.map((tool) => messagesTool(tool, forms)),
    ...(toolChoice === null ? {} : { tool_choice: toolChoice }),
  };
}

/** A conversation with calls needs tools, even if none may be called any more. */
function toolsOfHistory(calledNames: ReadonlySet<string>): Partial<MessagesRequest> {
  if (calledNames.size === 0) return {};
  const tools = [...calledNames].map((name) => ({
    name,
    description: "No longer available.",
    input_schema: { type: "object" },
  }));
  return { tools, tool_choice: { type: "none" } };
}

function messagesTool({ function: tool }: ChatTool, forms: RequestForms): MessagesTool {
  const { name, description, parameters, strict } = tool;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: { type: "object", ...(typeof parameters === "object" ? parameters : {}) },
    ...(strict === true && forms.strict ? { strict } : {}),
  };
}

function choiceOf(choice: ChatToolChoice, isParallel: boolean): MessagesToolChoice | null {
  const single = isParallel ? {} : { disable_parallel_tool_use: true as const };
  if (typeof choice === "object") return { type: "tool", name: choice.function.name, ...single };
  switch (choice) {
    case "none":
      return { type: "none" };
    case "required":
      return { type: "any", ...single };
    case "auto":
      return isParallel ? null : { type: "auto", ...single };
  }
}

function thinkingFields(request: ModelRequest, forms: RequestForms, maxTokens: number): Partial<MessagesRequest> {
  const thinking = thinkingOf(request, forms, maxTokens);
  const effort = effortOf(request, forms);
  const { format } = request.text;
  const output: OutputConfig = {
    ...(effort == null ? {} : { effort }),
    ...(format?.type === "json_schema" && forms.schema === "format"
      ? { format: { type: "json_schema", schema: format.schema } }
      : {}),
  };
  return {
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
  };
}

/** The format in words, where the API has none for it; null if it has. */
function formatWords({ text: { format } }: ModelRequest, forms: RequestForms): string | null {
  if (format?.type === "json_object") return "Answer with one JSON object alone, without a code fence.";
  if (format?.type !== "json_schema" || forms.schema === "format") return null;
  return `Answer with JSON alone, without a code fence. It must match this JSON schema:\n${JSON.stringify(format.schema)}`;
}

/** Models take temperature or top_p, and neither while they think. */
function samplingFields(
  { temperature, topP, extras }: ModelRequest,
  forms: RequestForms,
  isThinking: boolean,
): Partial<MessagesRequest> {
  if (isThinking || !forms.sampling) return {};
  const topK = extras?.unknown["top_k"];
  return {
    ...(temperature === null ? {} : { temperature: Math.min(temperature, TEMPERATURE_MAX) }),
    ...(topP === null || temperature !== null ? {} : { top_p: topP }),
    ...(typeof topK === "number" ? { top_k: topK } : {}),
  };
}

/** The API refuses sequences of white space alone. */
function stopFields({ extras }: ModelRequest): Partial<MessagesRequest> {
  const stops = (extras?.stop ?? []).filter((sequence) => sequence.trim() !== "");
  return stops.length === 0 ? {} : { stop_sequences: stops };
}
