import type { ChatPart } from "./chat-wire.ts";

/** One thing that happened in a conversation, in the few words that chat completions have for it. */
export type HistoryStep =
  | { readonly type: "instruction"; readonly text: string }
  | { readonly type: "user"; readonly content: string | readonly ChatPart[] }
  | { readonly type: "assistant_text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | Call
  | CallOutput;

export interface Call {
  readonly type: "call";
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** What the output says if the history has none; absent: such a history is refused. */
  readonly outputElse?: string;
}

/** Tool messages hold text only; pictures and files follow in a user message. */
export interface CallOutput {
  readonly type: "call_output";
  readonly callId: string;
  readonly text: string;
  readonly parts: readonly ChatPart[];
}

export function callOutput(callId: string, text: string, parts: readonly ChatPart[] = []): CallOutput {
  return { type: "call_output", callId, text, parts };
}
