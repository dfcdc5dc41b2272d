import { isRecord } from "@antiphon/base/json/records.ts";
import { type JSONRPCMessage, type ListToolsResult, specTypeSchemas } from "@modelcontextprotocol/client";

/** The maximum parts read of a result. */
export const PARTS_MAX = 1000;

/**
 * The schema of a tool list: checks only used members. The client library's schema takes several microseconds per
 * property of a tool.
 */
export const LIST_RESULT: (typeof specTypeSchemas)["ListToolsResult"] = {
  "~standard": {
    ...specTypeSchemas.ListToolsResult["~standard"],
    validate: (value) => (isToolList(value) ? { value } : { issues: [{ message: "this is no list of tools" }] }),
  },
};

/** A message whose result the client library reads quickly, whatever the server sends. */
export function lightMessage<Message extends JSONRPCMessage>(message: Message): Message {
  if (!("result" in message)) return message;
  const result = lightResult(message.result);
  return result === message.result ? message : { ...message, result };
}

/**
 * The result of a call with at most `PARTS_MAX` parts and a last part with the number of missing ones. Structured
 * content becomes text if there is no text. Other results are unchanged.
 */
export function lightResult(result: unknown): unknown {
  if (!isRecord(result)) return result;
  const { structuredContent, ...others } = result;
  const parts = result["content"];
  if (!Array.isArray(parts)) return result;
  const isStructured = isRecord(structuredContent);
  if (parts.length <= PARTS_MAX && !isStructured) return result;
  const content: unknown[] = parts.slice(0, PARTS_MAX);
  const countLeft = parts.length - content.length;
  if (countLeft > 0) content.push({ type: "text", text: `[${countLeft} more parts of the result were left out.]` });
  if (isStructured && !parts.some(hasText)) content.unshift({ type: "text", text: JSON.stringify(structuredContent) });
  return { ...others, content };
}

function hasText(part: unknown): boolean {
  return isRecord(part) && (part["type"] === "text" || part["type"] === "resource");
}

function isToolList(value: unknown): value is ListToolsResult {
  if (!isRecord(value) || !Array.isArray(value["tools"])) return false;
  return isTextOrAbsent(value["nextCursor"]) && value["tools"].every(isTool);
}

function isTool(value: unknown): boolean {
  if (!isRecord(value) || typeof value["name"] !== "string") return false;
  const { description, inputSchema, annotations } = value;
  return (
    isTextOrAbsent(description) &&
    isRecord(inputSchema) &&
    inputSchema["type"] === "object" &&
    (annotations === undefined || isRecord(annotations))
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}
