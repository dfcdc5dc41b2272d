import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { createResponsesEngine, type ResponsesEngineOptions } from "./engine.ts";

/** The engine for a server of a test. */
export function responsesEngineFor(
  server: { readonly origin: string },
  options: Partial<ResponsesEngineOptions> = {},
): ModelEngine {
  return createResponsesEngine({
    baseUrl: `${server.origin}/v1`,
    apiKey: "sk-secret-key-of-the-operator",
    timeouts: { connectMs: 2000, idleMs: 5000, totalMs: 10_000 },
    ...options,
  });
}

/** Events of a response as their SSE frames. */
export function responseFrames(...events: readonly (object | string)[]): string {
  return events
    .map((event) => {
      if (typeof event === "string") return `data: ${event}\n\n`;
      const type = "type" in event ? `event: ${String(event.type)}\n` : "";
      return `${type}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
}

const RESPONSE = { id: "resp_1", object: "response", model: "m", status: "in_progress", output: [], error: null };
const USAGE = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 1 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 1 },
  total_tokens: 5,
};

/** The event that begins a response. */
export const CREATED = { type: "response.created", sequence_number: 0, response: RESPONSE };

/** The event that ends a response, changed by `members`. */
export function completedEvent(members: object = {}): object {
  return { type: "response.completed", response: { ...RESPONSE, status: "completed", usage: USAGE, ...members } };
}

/** A text as the events of a message. */
export function messageEvents(text: string, index = 0): readonly object[] {
  const place = { output_index: index, item_id: `msg_${index}`, content_index: 0 };
  const item = { id: `msg_${index}`, type: "message", role: "assistant" };
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  return [
    { type: "response.output_item.added", output_index: index, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...place, delta: text, logprobs: [] },
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    { type: "response.output_item.done", output_index: index, item: { ...item, status: "completed", content: [part] } },
  ];
}

/** A whole stream that says a text. */
export function textStream(text: string): string {
  return responseFrames(CREATED, ...messageEvents(text), completedEvent());
}
