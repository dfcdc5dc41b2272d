import type {
  ChatAnswer,
  ChatChoice,
  ChatCompletion,
  ChatFinishReason,
  ChatLogprobs,
  ChatToolCall,
  ChatUrlCitation,
  ChatUsage,
} from "@antiphon/contracts/chat-completions/types.ts";
import type { Annotation, LogProb, OutputItem, Response } from "@antiphon/contracts/responses-api/types.ts";
import { TEXT_BREAK } from "../text-break.ts";

/** What a chat client asked for in its own words. It is needed to show a response as a chat completion. */
export interface ChatNotes {
  /** Whether the functions were offered in the deprecated form. */
  readonly usesFunctions: boolean;
}

export function completionId(responseId: string): string {
  return responseId.replace(/^resp_/, "chatcmpl-");
}

export function responseIdOfCompletion(chatId: string): string {
  return chatId.replace(/^chatcmpl-/, "resp_");
}

/** A response that has ended, as the chat completion with this number of choices. The first one names it. */
export function chatCompletion(responses: readonly [Response, ...Response[]], notes: ChatNotes): ChatCompletion {
  const [{ id, created_at, model, service_tier }] = responses;
  return {
    id: completionId(id),
    object: "chat.completion",
    created: created_at,
    model,
    choices: responses.map((response, index) => chatChoice(response, index, notes)),
    usage: chatUsage(responses),
    service_tier: service_tier ?? null,
    system_fingerprint: null,
  };
}

function chatChoice(response: Response, index: number, { usesFunctions }: ChatNotes): ChatChoice {
  const message = chatAnswer(response.output, usesFunctions);
  return { index, message, logprobs: chatLogprobs(response.output), finish_reason: finishReason(response, message) };
}

function chatAnswer(output: readonly OutputItem[], usesFunctions: boolean): ChatAnswer {
  const answer = new AnswerText();
  for (const item of output) answer.add(item);
  const calls = output.flatMap(chatToolCall);
  const { reasoning } = answer;
  const [first] = calls;
  return {
    role: "assistant",
    content: answer.content,
    refusal: answer.refusal,
    annotations: answer.citations,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning, reasoning }),
    ...(calls.length === 0 || usesFunctions ? {} : { tool_calls: calls }),
    ...(usesFunctions && first?.type === "function" ? { function_call: first.function } : {}),
  };
}

/** The texts of a run: those of its messages as one. */
class AnswerText {
  content: string | null = null;
  refusal: string | null = null;
  reasoning = "";
  readonly citations: ChatUrlCitation[] = [];

  add(item: OutputItem): void {
    if (item.type === "reasoning") this.#addReasoning([...(item.content ?? []), ...item.summary]);
    if (item.type !== "message") return;
    const before = this.content === null || this.content === "" ? "" : `${this.content}${TEXT_BREAK}`;
    let text = "";
    for (const part of item.content) {
      if (part.type === "refusal") this.refusal = (this.refusal ?? "") + part.refusal;
      else {
        this.citations.push(...chatCitations(part.annotations, before + text));
        text += part.text;
      }
    }
    if (text !== "" || (this.content === null && this.refusal === null))
      this.content = text === "" ? (this.content ?? "") : before + text;
  }

  #addReasoning(parts: readonly { readonly text: string }[]): void {
    for (const { text } of parts) if (text !== "") this.reasoning += this.reasoning === "" ? text : TEXT_BREAK + text;
  }
}

/** The cited web pages of a text that follows another one. Positions count code points. */
function chatCitations(annotations: readonly Annotation[], before: string): ChatUrlCitation[] {
  const pages = annotations.filter((annotation) => annotation.type === "url_citation");
  if (pages.length === 0) return [];
  const offset = codePoints(before);
  return pages.map(({ start_index: start, end_index: end, url, title }) => ({
    type: "url_citation",
    url_citation: { end_index: offset + end, start_index: offset + start, title, url },
  }));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The call that a client is to make; none for a call of this server. */
function chatToolCall(item: OutputItem): ChatToolCall[] {
  if (item.type === "function_call") {
    const { call_id: id, name, arguments: json } = item;
    return [{ id, type: "function", function: { name, arguments: json } }];
  }
  if (item.type === "custom_tool_call") {
    return [{ id: item.call_id, type: "custom", custom: { name: item.name, input: item.input } }];
  }
  return [];
}

function chatLogprobs(output: readonly OutputItem[]): ChatLogprobs | null {
  const tokens: LogProb[] = [];
  for (const item of output) {
    if (item.type !== "message") continue;
    for (const part of item.content) if (part.type === "output_text") tokens.push(...part.logprobs);
  }
  return tokens.length === 0 ? null : { content: tokens, refusal: null };
}

/** Why a run ended. Calls are the reason of an answer that has any, whatever text came before them. */
function finishReason(
  { incomplete_details: incomplete }: Pick<Response, "incomplete_details">,
  { tool_calls: calls, function_call: call }: Pick<ChatAnswer, "tool_calls" | "function_call">,
): ChatFinishReason {
  if (incomplete !== null) return incomplete.reason === "content_filter" ? "content_filter" : "length";
  if (call !== undefined) return "function_call";
  return calls === undefined ? "stop" : "tool_calls";
}

/** The tokens of the responses together; null if none was counted. */
export function chatUsage(responses: readonly Pick<Response, "usage">[]): ChatUsage | null {
  const counted = responses.flatMap(({ usage }) => (usage === null ? [] : [usage]));
  const [first] = counted;
  if (first === undefined) return null;
  const outputTokens = counted.reduce((sum, usage) => sum + usage.output_tokens, 0);
  // The prompt of several choices is the same, and counts once.
  return {
    prompt_tokens: first.input_tokens,
    completion_tokens: outputTokens,
    total_tokens: first.input_tokens + outputTokens,
    prompt_tokens_details: { cached_tokens: first.input_tokens_details.cached_tokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: counted.reduce((sum, usage) => sum + usage.output_tokens_details.reasoning_tokens, 0),
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
