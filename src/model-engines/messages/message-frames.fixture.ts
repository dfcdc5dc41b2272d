import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { createMessagesEngine, type MessagesOptions } from "./engine.ts";

type StreamEvent = Readonly<Record<string, unknown>> & { readonly type: string };
export type Frames = readonly (StreamEvent | readonly StreamEvent[])[];

/** The events as text of a stream. */
export function frames(...events: Frames): string {
  return events
    .flat()
    .map((event: StreamEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

export const STARTED: StreamEvent = {
  type: "message_start",
  message: { id: "msg_1", model: "m", content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
export const STOPPED: StreamEvent = { type: "message_stop" };

/** A block with these deltas. */
export function block(index: number, start: object, ...deltas: readonly object[]): readonly StreamEvent[] {
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

export function textBlock(index: number, ...pieces: readonly string[]): readonly StreamEvent[] {
  return block(index, { type: "text", text: "" }, ...pieces.map((text) => ({ type: "text_delta", text })));
}

export function thoughtBlock(index: number, text: string, ...signatures: readonly string[]): readonly StreamEvent[] {
  const deltas = [
    { type: "thinking_delta", thinking: text },
    ...signatures.map((signature) => ({ type: "signature_delta", signature })),
  ];
  return block(index, { type: "thinking", thinking: "", signature: "" }, ...deltas);
}

export function callBlock(index: number, name: string, ...pieces: readonly string[]): readonly StreamEvent[] {
  const start = { type: "tool_use", id: `toolu_${index}`, name, input: {} };
  return block(index, start, ...pieces.map((partial) => ({ type: "input_json_delta", partial_json: partial })));
}

export function ended(reason: string, members: object = {}, usage: object = { output_tokens: 2 }): StreamEvent {
  return { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null, ...members }, usage };
}

export function messagesEngine(
  server: { readonly origin: string },
  options: Partial<MessagesOptions> = {},
): ModelEngine {
  return createMessagesEngine({
    baseUrl: server.origin,
    apiKey: "sk-secret-key-of-the-operator",
    timeouts: { connectMs: 2000, idleMs: 5000, totalMs: 10_000 },
    ...options,
  });
}
