import { cutResult } from "@antiphon/base/limits/cut-result.ts";
import type { HostedCall, HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import { newestOutputsStart } from "../../window/newest-outputs.ts";
import type { ToolSet } from "../open-tools.ts";
import { fence, readFence } from "./fence.ts";

/** A hosted tool's result in a context. */
export interface HostedResult {
  /** Its index in the context. */
  readonly place: number;
  readonly item: HostedOutput;
  /** Null if the call is not in the context. */
  readonly call: HostedCall | null;
  /** Whether it belongs to the latest turn, so that the model has not seen it. */
  readonly isNewest: boolean;
}

/** The results of hosted tools in a context, oldest first. */
export function hostedResults(items: readonly ContextItem[]): readonly HostedResult[] {
  const calls = new Map<string, HostedCall>();
  const results: HostedResult[] = [];
  const newest = newestOutputsStart(items);
  for (const [place, item] of items.entries()) {
    if (item.type === "hosted_call") calls.set(item.callId, item);
    if (item.type === "hosted_output")
      results.push({ place, item, call: calls.get(item.callId) ?? null, isNewest: place >= newest });
  }
  return results;
}

/** The result with at most `charactersMax` characters of the tool's text, and a notice about the rest. */
export function shortResult(
  { item, call }: HostedResult,
  charactersMax: number,
  tools: Pick<ToolSet, "find"> | null,
): HostedOutput {
  const fenceParts = readFence(item.output);
  const text = fenceParts?.text ?? item.output;
  const tool = call === null ? null : (tools?.find(call.name, call.server)?.tool ?? null);
  const toolCall = call === null ? null : { name: call.name, arguments: call.arguments, text };
  const short =
    (toolCall === null ? undefined : tool?.shorten?.(toolCall, charactersMax)) ?? cutResult(text, charactersMax);
  const shownText = fenceParts === null ? short.text : fence(fenceParts.tool, short.text, fenceParts.mark);
  return { ...item, output: `${shownText}\n[${short.notice}]` };
}

/** Replaces a result that the model has seen before. */
export function leftOutResult({ item }: HostedResult): HostedOutput {
  const output = `[You were shown this result before. Its ${item.output.length} characters are left out here, because the model's window is small.]`;
  return { ...item, output, parts: [] };
}
