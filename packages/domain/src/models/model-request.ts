import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { InputItem, TextConfig, Tool, ToolChoice } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedCall, HostedFunction, HostedFunctionChoice, HostedOutput } from "./hosted.ts";

/** An item of a context. Calls of hosted tools are in the model's form instead of the wire form. */
export type ContextItem = InputItem | HostedCall | HostedOutput;

/** A tool offered to a model: run by the client, or a function of this server. */
export type OfferedTool = Tool | HostedFunction;

/**
 * The request for one turn of a model. Items are in context order and resolved: no `item_reference`, no extension
 * parts, and sealed reasoning is opened. `encrypted_content` of reasoning is what an engine wrote in
 * `reasoning_sealed`; any other engine ignores it.
 */
export interface ModelRequest {
  readonly model: string;
  readonly instructions: string | null;
  readonly items: readonly ContextItem[];
  /** The client's tools, tools added by items, and functions of hosted tools. */
  readonly tools: readonly OfferedTool[];
  readonly toolChoice: ToolChoice | HostedFunctionChoice;
  readonly parallelToolCalls: boolean;
  readonly text: TextConfig;
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null };
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  /** The number of alternatives per token; null if log probabilities were not requested. */
  readonly topLogprobs: number | null;
  readonly user: string | null;
  readonly promptCacheKey: string | null;
  readonly serviceTier: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Settings that some doors of this server take; none if absent or null. */
  readonly extras?: ModelExtras | null;
  /** The key that asks: waiting requests of several keys take turns. */
  readonly payer?: string;
  /** Sent to the model server as the parent trace of the call; not sent if absent or null. */
  readonly trace?: TraceContext | null;
}

/** Settings of a turn that the Responses API does not have. */
export interface ModelExtras {
  /** Members of the reference's chat completions, in their form there, such as `seed`. */
  readonly standard: Readonly<Record<string, unknown>>;
  /** Members that only some model servers know, such as `top_k`. */
  readonly unknown: Readonly<Record<string, unknown>>;
  /** Texts at which the answer ends, also in `standard` for servers that end it by themselves. */
  readonly stop: readonly string[];
}

/** A request with defaults only, without its model and items. */
export const PLAIN_REQUEST: Omit<ModelRequest, "model" | "items"> = {
  instructions: null,
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  text: { format: { type: "text" }, verbosity: "medium" },
  reasoning: { effort: null, summary: null },
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  presencePenalty: null,
  frequencyPenalty: null,
  topLogprobs: null,
  user: null,
  promptCacheKey: null,
  serviceTier: null,
  metadata: {},
};
