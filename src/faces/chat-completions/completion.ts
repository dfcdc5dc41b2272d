import type {
  ChatAnswer,
  ChatChoice,
  ChatCompletion,
  ChatFinishReason,
  ChatLogprobs,
  ChatToolCall,
  ChatUsage,
} from "@antiphon/contracts/chat-completions/types.ts";
import type { LogProb, OutputItem, Response } from "@antiphon/contracts/responses-api/types.ts";
import type { ClientSeal } from "../client-seal.ts";
import { AnswerText } from "./answer-text.ts";
import { AUDIO_ID_S, audioIdOf, sealedHostedItems } from "./sealed-answer.ts";

/** What a chat client asked for in its own words. It is needed to show a response as a chat completion. */
export interface ChatNotes {
  /** Whether the functions were offered in the deprecated form. */
  readonly usesFunctions: boolean;
  /** Whether the answer is spoken. */
  readonly speaks: boolean;
}

/** How responses are shown to a client. */
export interface ChatView extends ChatNotes {
  readonly seal: Pick<ClientSeal, "seal">;
}

export function completionId(responseId: string): string {
  return responseId.replace(/^resp_/, "chatcmpl-");
}

export function responseIdOfCompletion(chatId: string): string {
  return chatId.replace(/^chatcmpl-/, "resp_");
}

/**
 * Responses that have ended, as the choices of a chat completion. The first one names it. `sound` is that of a spoken
 * answer in base64; empty if it is not at hand.
 */
export function chatCompletion(
  responses: readonly [Response, ...Response[]],
  view: ChatView,
  sound = "",
): ChatCompletion {
  const [{ id, created_at, model, service_tier }] = responses;
  return {
    id: completionId(id),
    object: "chat.completion",
    created: created_at,
    model,
    choices: responses.map((response, index) => chatChoice(response, index, { ...view, sound })),
    usage: chatUsage(responses),
    service_tier: service_tier ?? null,
    system_fingerprint: null,
  };
}

interface ChoiceView extends ChatView {
  readonly sound: string;
}

function chatChoice(response: Response, index: number, view: ChoiceView): ChatChoice {
  const message = chatAnswer(response, view);
  return { index, message, logprobs: chatLogprobs(response.output), finish_reason: finishReason(response, message) };
}

function chatAnswer({ output, created_at: createdAt }: Response, view: ChoiceView): ChatAnswer {
  const answer = AnswerText.of(output);
  const { content, reasoning } = answer;
  const calls = output.flatMap(chatToolCall);
  const [first] = calls;
  const audio = view.speaks && content !== null && content !== "" ? { data: view.sound, transcript: content } : null;
  const hostedItems = sealedHostedItems(output, view.seal);
  return {
    role: "assistant",
    content: audio === null ? content : null,
    refusal: answer.refusal,
    annotations: answer.citations,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning, reasoning }),
    ...(calls.length === 0 || view.usesFunctions ? {} : { tool_calls: calls }),
    ...(view.usesFunctions && first?.type === "function" ? { function_call: first.function } : {}),
    ...(audio === null
      ? {}
      : { audio: { id: audioIdOf(audio.transcript, view.seal), ...audio, expires_at: createdAt + AUDIO_ID_S } }),
    ...(hostedItems === null ? {} : { hosted_items: hostedItems }),
  };
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
