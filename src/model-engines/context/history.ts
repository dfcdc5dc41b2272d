import { createHash } from "node:crypto";
import type { ChatPart } from "./chat-wire.ts";

/** One step of a conversation that chat completions can express. */
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
  /** The output if the history has none. Without it, a call without an output is refused. */
  readonly defaultOutput?: string;
}

/** The output of a call. */
export interface CallOutput {
  readonly type: "call_output";
  readonly callId: string;
  readonly text: string;
  /** Images and files. */
  readonly parts: readonly ChatPart[];
  /** What the text has to say where only text can be an output, and the parts follow it. Null without parts. */
  readonly partsNote: string | null;
}

const PARTS_FOLLOW = "The pictures and files of this output follow in the next message.";

export function callOutput(
  callId: string,
  text: string,
  parts: readonly ChatPart[] = [],
  partsNote = PARTS_FOLLOW,
): CallOutput {
  return { type: "call_output", callId, text, parts, partsNote: parts.length === 0 ? null : partsNote };
}

/** The call id, or a hash of it if it is longer than a server accepts. */
export function shortCallId(callId: string, charactersMax: number): string {
  if (callId.length <= charactersMax) return callId;
  const hash = createHash("sha256").update(callId).digest("hex");
  return `call_${hash}`.slice(0, charactersMax);
}
