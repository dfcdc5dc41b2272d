import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { UserAnswer } from "@antiphon/domain/hosted-tool.ts";
import type { ElicitResult } from "@modelcontextprotocol/client";
import { flatContent, type QuestionParams } from "./user-question.ts";

type Members = Readonly<Record<string, unknown>>;

/** The answer for the server, or a sentence that says why the user's answer does not fit the question. */
export type ReadAnswer =
  | { readonly type: "fits"; readonly result: ElicitResult }
  | { readonly type: "wrong"; readonly why: string };

/**
 * Reads what the user answered. A refusal declines. An approval without a reason gives the defaults of the requested
 * schema. The protocol allows flat objects of texts, numbers, truth values and lists of texts. The server may check
 * more, such as the form of an address.
 */
export function readUserAnswer(params: QuestionParams, { approve, reason }: UserAnswer): ReadAnswer {
  if (!approve) return { type: "fits", result: { action: "decline" } };
  if (params["mode"] === "url") return { type: "fits", result: { action: "accept" } };
  const own = reason === null || reason.trim() === "" ? {} : jsonOrUndefined(reason);
  if (!isRecord(own)) return { type: "wrong", why: "The reason is not a JSON object." };
  const schema = isRecord(params["requestedSchema"]) ? params["requestedSchema"] : {};
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const content = { ...defaultsOf(properties), ...own };
  const why = faultOf(content, properties, schema["required"]);
  return why === null
    ? { type: "fits", result: { action: "accept", content: flatContent(content) } }
    : { type: "wrong", why };
}

function defaultsOf(properties: Members): Members {
  const members = Object.entries(properties).flatMap(([name, schema]) =>
    isRecord(schema) && schema["default"] !== undefined ? [[name, schema["default"]] as const] : [],
  );
  return Object.fromEntries(members);
}

function faultOf(content: Members, properties: Members, requiredNames: unknown): string | null {
  const names = Array.isArray(requiredNames) ? requiredNames.filter((name) => typeof name === "string") : [];
  const missing = names.find((name) => content[name] === undefined);
  if (missing !== undefined) return `The member '${missing}' is missing.`;
  for (const [name, value] of Object.entries(content)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isRecord(schema)) return `The question has no member '${name}'.`;
    const { type: kind } = schema;
    if (!isValueOf(schema, value)) return `The member '${name}' is no ${kindText(kind)} as the question asks for it.`;
  }
  return null;
}

function kindText(kind: unknown): string {
  return typeof kind === "string" ? kind : "value";
}

function isValueOf(schema: Members, value: unknown): boolean {
  switch (schema["type"]) {
    case "string":
      return typeof value === "string" && isWithin(schema, "Length", value.length) && isChoice(schema, value);
    case "integer":
    case "number":
      return isNumberOf(schema, value);
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return isListOf(schema, value);
    default:
      return false;
  }
}

function isNumberOf({ type, minimum, maximum }: Members, value: unknown): boolean {
  if (typeof value !== "number" || (type === "integer" && !Number.isInteger(value))) return false;
  return value >= limitOf(minimum, Number.NEGATIVE_INFINITY) && value <= limitOf(maximum, Number.POSITIVE_INFINITY);
}

function isListOf(schema: Members, value: unknown): boolean {
  if (!Array.isArray(value) || !isWithin(schema, "Items", value.length)) return false;
  const items = isRecord(schema["items"]) ? schema["items"] : {};
  return value.every((item) => typeof item === "string" && isChoice(items, item));
}

function isWithin(schema: Members, measure: "Length" | "Items", count: number): boolean {
  return (
    count >= limitOf(schema[`min${measure}`], 0) && count <= limitOf(schema[`max${measure}`], Number.POSITIVE_INFINITY)
  );
}

function limitOf(limit: unknown, otherwise: number): number {
  return typeof limit === "number" ? limit : otherwise;
}

/** Whether a text is among the choices, if there are any. Choices with titles are constants. */
function isChoice(schema: Members, value: string): boolean {
  if (Array.isArray(schema["enum"])) return schema["enum"].includes(value);
  const titledChoices = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(titledChoices)) return true;
  return titledChoices.some((choice) => isRecord(choice) && choice["const"] === value);
}
