import type { UIMessage, UIMessageChunk } from "ai";
import { isToolPart } from "./request-input.ts";

type Part = UIMessage["parts"][number];

/**
 * Chunks that rebuild the parts of a message. A response that continues this message follows them. Tools are not called
 * again: their parts include their outputs.
 */
export function replayParts(parts: readonly Part[]): UIMessageChunk[] {
  return parts.flatMap((part, index) => chunksOf(part, `kept_${index}`));
}

function chunksOf(part: Part, id: string): UIMessageChunk[] {
  if (isToolPart(part)) return toolChunks(part);
  if (part.type === "text") return spokenChunks("text", id, part.text);
  if (part.type === "reasoning") return spokenChunks("reasoning", part.id ?? id, part.text);
  if (part.type === "step-start") return [{ type: "start-step" }];
  if (part.type === "file") return [{ type: "file", url: part.url, mediaType: part.mediaType }];
  if (part.type === "source-url") return [{ ...part, type: "source-url" }];
  if (part.type === "source-document") return [{ ...part, type: "source-document" }];
  return []; // This transport creates no other parts.
}

function spokenChunks(kind: "text" | "reasoning", id: string, delta: string): UIMessageChunk[] {
  return [
    { type: `${kind}-start`, id },
    { type: `${kind}-delta`, id, delta },
    { type: `${kind}-end`, id },
  ];
}

function toolChunks(part: Extract<Part, { toolCallId: string }>): UIMessageChunk[] {
  const { toolCallId, input } = part;
  const isDynamic = part.type === "dynamic-tool";
  const toolName = isDynamic ? part.toolName : part.type.slice("tool-".length);
  const tool = { toolCallId, toolName, dynamic: isDynamic, ...executor(part) };
  const start: UIMessageChunk = { type: "tool-input-start", ...tool, ...metadataOf(part) };
  // The page's onToolCall is called for "tool-input-available", so an input with a known output is sent as an error,
  // which the output then replaces.
  const inputChunk: UIMessageChunk = { type: "tool-input-error", ...tool, input, errorText: "" };
  const output = { toolCallId, ...executor(part) };
  if (part.state === "output-available")
    return [start, inputChunk, { type: "tool-output-available", ...output, output: part.output }];
  if (part.state === "output-error")
    return [start, inputChunk, { type: "tool-output-error", ...output, errorText: part.errorText }];
  const available: UIMessageChunk = { type: "tool-input-available", ...tool, input };
  if (part.approval === undefined) return [start, available];
  const { id: approvalId, approved } = part.approval;
  const request: UIMessageChunk = { type: "tool-approval-request", approvalId, toolCallId };
  return approved === undefined
    ? [start, available, request]
    : [start, available, request, { type: "tool-approval-response", approvalId, approved }];
}

function executor({ providerExecuted }: Extract<Part, { toolCallId: string }>) {
  return providerExecuted === undefined ? {} : { providerExecuted };
}

function metadataOf({ callProviderMetadata }: Extract<Part, { toolCallId: string }>) {
  return callProviderMetadata === undefined ? {} : { providerMetadata: callProviderMetadata };
}
