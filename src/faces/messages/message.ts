import type {
  MessagesBlock,
  MessagesCitation,
  MessagesEnd,
  MessagesMessage,
  MessagesStopReason,
  MessagesUsage,
} from "@antiphon/contracts/messages/types.ts";
import type { Annotation, OutputItem, Response } from "@antiphon/contracts/responses-api/types.ts";
import { TEXT_BREAK } from "../text-break.ts";
import { objectIn, serverExchange, serverToolUsage } from "./server-blocks.ts";

/** What a client asked for in its own words. It is needed to show a response as a message. */
export interface MessageNotes {
  /** The model as the client named it. */
  readonly model: string;
  /** Whether the text of the reasoning is left out. */
  readonly omitsThinking: boolean;
}

export function messageId(responseId: string): string {
  return responseId.replace(/^resp_/, "msg_");
}

/** A response that has ended, as a message. */
export function messageOf(response: Response, notes: MessageNotes): MessagesMessage {
  return {
    ...messageStart(response.id, notes, 0),
    content: response.output.flatMap((item) => blocksOf(item, notes)),
    ...messageEnd(response),
    usage: messageUsage(response),
  };
}

/** A message before its first block. `inputTokens` are those of its request, as far as they are known. */
export function messageStart(responseId: string, { model }: MessageNotes, inputTokens: number): MessagesMessage {
  return {
    id: messageId(responseId),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: { ...NO_USAGE, input_tokens: inputTokens },
  };
}

function blocksOf(item: OutputItem, notes: MessageNotes): readonly MessagesBlock[] {
  if (item.type === "reasoning") return thinkingBlocks(item, notes);
  if (item.type === "message") return item.content.flatMap(textBlocks);
  if (item.type === "function_call") return [{ ...toolUse(item), input: objectIn(item.arguments) }];
  return serverExchange(item) ?? [];
}

function thinkingBlocks(
  { content, summary, encrypted_content: sealedText }: Extract<OutputItem, { type: "reasoning" }>,
  { omitsThinking }: MessageNotes,
): MessagesBlock[] {
  const texts = [...(content ?? []), ...summary].map(({ text }) => text).filter((text) => text !== "");
  const signature = sealedText ?? "";
  if (texts.length === 0 && signature === "") return [];
  return [{ type: "thinking", thinking: omitsThinking ? "" : texts.join(TEXT_BREAK), signature }];
}

type MessagePart = Extract<OutputItem, { type: "message" }>["content"][number];

function textBlocks(part: MessagePart): MessagesBlock[] {
  const text = part.type === "refusal" ? part.refusal : part.text;
  const citations = part.type === "refusal" ? [] : part.annotations.flatMap(citation);
  if (text === "" && citations.length === 0) return [];
  return [{ type: "text", text, citations: citations.length === 0 ? null : citations }];
}

/** The citation of a web page; none for a file, which has no place in a message. */
export function citation(annotation: Annotation): MessagesCitation[] {
  if (annotation.type !== "url_citation") return [];
  const { url, title } = annotation;
  return [{ type: "web_search_result_location", url, title, cited_text: "", encrypted_index: "" }];
}

/** A call of the client before its input. */
export function toolUse({
  call_id: id,
  name,
}: Pick<Extract<OutputItem, { type: "function_call" }>, "call_id" | "name">) {
  return { type: "tool_use", id, name, input: {}, caller: { type: "direct" } } as const;
}

/** How a message ended. */
export function messageEnd(response: Response): MessagesEnd {
  const reason = stopReason(response);
  return {
    stop_reason: reason,
    stop_sequence: reason === "stop_sequence" ? (response.stop_sequence ?? null) : null,
    stop_details: reason === "refusal" ? { type: "refusal", category: null, explanation: null } : null,
    container: null,
  };
}

function stopReason({ incomplete_details: incomplete, output, stop_sequence: stop }: Response): MessagesStopReason {
  if (incomplete !== null) return incomplete.reason === "content_filter" ? "refusal" : "max_tokens";
  if (output.some(({ type }) => type === "function_call")) return "tool_use";
  if (stop !== undefined) return "stop_sequence";
  const isRefusal = output.some(
    (item) => item.type === "message" && item.content.some(({ type }) => type === "refusal"),
  );
  return isRefusal ? "refusal" : "end_turn";
}

const NO_USAGE: MessagesUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
  output_tokens_details: { thinking_tokens: 0 },
  server_tool_use: null,
  service_tier: "standard",
  inference_geo: null,
  speed: null,
};

/** The tokens of a response. Cached ones are counted apart. */
export function messageUsage({ usage, output }: Pick<Response, "usage" | "output">): MessagesUsage {
  const counts = { ...NO_USAGE, server_tool_use: serverToolUsage(output) };
  if (usage === null) return counts;
  const { cached_tokens: cached } = usage.input_tokens_details;
  return {
    ...counts,
    input_tokens: Math.max(0, usage.input_tokens - cached),
    cache_read_input_tokens: cached,
    output_tokens: usage.output_tokens,
    output_tokens_details: { thinking_tokens: usage.output_tokens_details.reasoning_tokens },
  };
}
