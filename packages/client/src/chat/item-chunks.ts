import type * as ResponsesApi from "@antiphon/contracts/responses-api/types.ts";
import type { UIMessageChunk } from "ai";
import { isRecord, parseJson, textAt } from "../http/json-members.ts";

type Item = ResponsesApi.OutputItem;

/** The id of a tool part; null for items that are not calls. */
export function toolCallIdOf(item: Item): string | null {
  if (item.type === "function_call" || item.type === "custom_tool_call") return item.call_id;
  return isHostedCall(item) ? idOf(item) : null;
}

/** Calls of any tool that the server runs. */
function isHostedCall({ type }: Item): boolean {
  return type.endsWith("_call") && type !== "function_call" && type !== "custom_tool_call";
}

/** The chunks of an item that begins. */
export function itemOpenedChunks(item: Item): UIMessageChunk[] {
  const toolCallId = toolCallIdOf(item);
  if (toolCallId === null) return [];
  if (item.type === "function_call") return [{ type: "tool-input-start", toolCallId, toolName: item.name }];
  if (item.type === "custom_tool_call")
    return [
      { type: "tool-input-start", toolCallId, toolName: item.name, inputEncoding: "text", providerMetadata: CUSTOM },
    ];
  const encoding = item.type === "code_interpreter_call" ? ({ inputEncoding: "text" } as const) : {};
  return [{ type: "tool-input-start", toolCallId, ...hostedFields(item), ...encoding }];
}

/** Marks calls whose input is text, because their outputs are items of another type. */
const CUSTOM = { antiphon: { custom: true } };

/** The chunks of an item that is complete. */
export function itemDoneChunks(item: Item): UIMessageChunk[] {
  const toolCallId = toolCallIdOf(item);
  if (item.type === "mcp_approval_request") return approvalChunks(item);
  if (toolCallId === null) return [];
  if (item.type === "function_call") return functionChunks(item);
  if (item.type === "custom_tool_call")
    return [
      { type: "tool-input-available", toolCallId, toolName: item.name, input: item.input, providerMetadata: CUSTOM },
    ];
  const tool = { toolCallId, ...hostedFields(item) };
  const inputChunk: UIMessageChunk = { type: "tool-input-available", ...tool, input: hostedInputOf(item) };
  const errorText = toolErrorText(item);
  const outcome: UIMessageChunk =
    errorText === null
      ? { type: "tool-output-available", toolCallId, output: hostedOutputOf(item), providerExecuted: true }
      : { type: "tool-output-error", toolCallId, errorText, providerExecuted: true };
  return [inputChunk, outcome, ...pictureChunks(item)];
}

function functionChunks(item: Extract<Item, { type: "function_call" }>): UIMessageChunk[] {
  const tool = { toolCallId: item.call_id, toolName: item.name };
  const input = item.arguments === "" ? {} : parseJson(item.arguments);
  if (input !== undefined) return [{ type: "tool-input-available", ...tool, input }];
  const errorText = "The arguments of the call are no valid JSON.";
  return [{ type: "tool-input-error", ...tool, input: item.arguments, errorText }];
}

/** A call of an MCP tool that needs approval. It is shown as a waiting call. */
function approvalChunks(item: Extract<Item, { type: "mcp_approval_request" }>): UIMessageChunk[] {
  const tool = { toolCallId: item.id, toolName: item.name, dynamic: true, providerExecuted: true };
  const input = parseJson(item.arguments) ?? item.arguments;
  return [
    { type: "tool-input-start", ...tool },
    { type: "tool-input-available", ...tool, input },
    { type: "tool-approval-request", approvalId: item.id, toolCallId: item.id },
  ];
}

/** Tools of the server are dynamic: the page need not declare them. */
function hostedFields(item: Item) {
  const toolName = item.type === "mcp_call" ? item.name : item.type.slice(0, -"_call".length);
  return { toolName, dynamic: true, providerExecuted: true };
}

function hostedInputOf(item: Item): unknown {
  if (item.type === "mcp_call") return parseJson(item.arguments) ?? item.arguments;
  if (item.type === "code_interpreter_call") return { code: item.code };
  if (item.type === "file_search_call") return { queries: item.queries };
  return "action" in item ? item.action : {};
}

function hostedOutputOf(item: Item): unknown {
  if (item.type === "mcp_call") return item.output;
  if (item.type === "code_interpreter_call") return item.outputs;
  // The picture is its own part.
  return item.type === "image_generation_call" ? { status: item.status } : item;
}

function toolErrorText(item: Item): string | null {
  if (item.type === "mcp_call" && item.error !== null) return JSON.stringify(item.error);
  return "status" in item && item.status === "failed" ? "The tool failed." : null;
}

function pictureChunks(item: Item): UIMessageChunk[] {
  if (item.type !== "image_generation_call" || item.result == null) return [];
  const mediaType = `image/${item.output_format === "svg" ? "svg+xml" : (item.output_format ?? "png")}`;
  return [{ type: "file", mediaType, url: `data:${mediaType};base64,${item.result}` }];
}

/** The source that an annotation cites. */
export function annotationChunks(annotation: ResponsesApi.Annotation, sourceId: string): UIMessageChunk[] {
  switch (annotation.type) {
    case "url_citation":
      return [{ type: "source-url", sourceId, url: annotation.url, title: annotation.title }];
    case "file_citation":
    case "container_file_citation": {
      const { filename } = annotation;
      return [{ type: "source-document", sourceId, mediaType: "application/octet-stream", title: filename, filename }];
    }
    case "file_path":
      return [];
  }
}

function idOf(item: Item): string | null {
  return isRecord(item) ? textAt(item, "id") : null;
}
