import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { ToolKind } from "./hosted-tool.ts";
import type { AttemptOutcome } from "./tool-ledger.ts";

/** Observes the calls of hosted functions, for metrics, traces and logs. No method may throw. */
export interface ToolObserver {
  /** A call starts to run. */
  began(call: WatchedToolCall): ToolWatch;
  /** A response with hosted tools has ended after this number of turns. */
  noteLoopEnd(turns: number): void;
  /** A limit ended or restricted the tool loop of a response. */
  noteLimit(limit: ToolLimit): void;
  /** A call that may change the world has ended, or is made again because its outcome is unknown. */
  noteEffect(end: EffectEnd): void;
  /** A tool was removed from a request. */
  noteOmission(kind: string): void;
}

/** `repeated`: an attempt whose outcome is unknown is followed by another one with the same key. */
export type EffectEnd = AttemptOutcome | "repeated";

export type ToolLimit = "max_tool_calls" | "calls" | "turns" | "output_tokens" | "repeated";

export interface WatchedToolCall {
  readonly responseId: string;
  readonly kind: ToolKind;
  readonly trace: TraceContext | null;
}

/**
 * How a call ended. `unknown`: it may have taken effect; `asked`: it needs the client's answer; `told`: only the model
 * got a message; `broken`: this server has a bug.
 */
export type ToolCallEnd = "completed" | "failed" | "unknown" | "incomplete" | "asked" | "told" | "broken" | "cut";

export interface ToolWatch {
  noteEnd(outcome: ToolCallEnd): void;
}
