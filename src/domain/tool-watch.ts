import type { TraceContext } from "../base/trace-context.ts";
import type { ToolKind } from "./hosted-tool.ts";

/** Follows the calls of hosted functions, for metrics, traces and logs. No method may throw. */
export interface ToolObserver {
  /** A call begins to run. */
  began(call: WatchedToolCall): ToolWatch;
  /** A response with tools of this server has ended after so many turns of its model. */
  ended(turns: number): void;
  /** A limit ended or narrowed the loop of a response. */
  limited(limit: ToolLimit): void;
  /** A tool was left out of a request. */
  omitted(kind: string): void;
}

export type ToolLimit = "max_tool_calls" | "calls" | "turns" | "output_tokens" | "repeated";

export interface WatchedToolCall {
  readonly responseId: string;
  readonly kind: ToolKind;
  readonly trace: TraceContext | null;
}

/**
 * How a call ended. `unknown`: it may have taken effect; `asked`: the client is asked; `told`: only the model;
 * `broken`: this server has a fault.
 */
export type ToolCallEnd = "completed" | "failed" | "unknown" | "incomplete" | "asked" | "told" | "broken" | "cut";

export interface ToolWatch {
  ended(outcome: ToolCallEnd): void;
}
