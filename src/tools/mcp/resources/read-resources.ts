import { isRecord } from "@antiphon/base/json/records.ts";
import {
  type CallToolResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  type ReadResourceResult,
  specTypeSchemas,
} from "@modelcontextprotocol/client";
import { causeOfType } from "../mcp-failure.ts";
import { PARTS_MAX } from "../results/light-results.ts";
import { describeResource } from "../results/read-result.ts";
import type { ServerLink } from "../server-link.ts";

/** The maximum resources of a list that are shown at once. */
const LISTED_MAX = 200;

/** What the model asked for: a resource, or a page of the list. */
export interface ResourceQuestion {
  readonly uri: string | null;
  readonly cursor: string | null;
}

/** The question in the arguments of a call; null if they are of other types. */
export function readQuestion({
  uri = null,
  cursor = null,
}: Readonly<Record<string, unknown>>): ResourceQuestion | null {
  if (!isTextOrNull(uri) || !isTextOrNull(cursor)) return null;
  return { uri: uri === "" ? null : uri, cursor: cursor === "" ? null : cursor };
}

/** A resource or a list of resources, as the result of a tool. Rejects like a call. */
export async function askResources(
  link: ServerLink,
  { uri, cursor }: ResourceQuestion,
  signal: AbortSignal,
): Promise<CallToolResult> {
  if (uri === null) return { content: [{ type: "text", text: await listText(link, cursor, signal) }] };
  const { contents } = await link.request({ method: "resources/read", params: { uri } }, READ_RESULT, signal);
  const content: CallToolResult["content"] = contents
    .slice(0, PARTS_MAX)
    .map((resource) => ({ type: "resource", resource }));
  const countLeft = contents.length - content.length;
  if (countLeft > 0) content.push({ type: "text", text: `[${countLeft} more parts of the resource were left out.]` });
  if (content.length === 0) content.push({ type: "text", text: "The resource is empty." });
  return { content };
}

async function listText(link: ServerLink, cursor: string | null, signal: AbortSignal): Promise<string> {
  const params = cursor === null ? {} : { cursor };
  const page = await link.request({ method: "resources/list", params }, LIST_RESULT, signal);
  const templates = cursor === null ? await templatesOf(link, signal) : [];
  const lines = [
    ...linesOf("Resources", page.resources.map(describeResource)),
    ...linesOf(
      "Patterns of further uris, with names to be replaced in braces",
      templates.map(({ uriTemplate, ...rest }) => describeResource({ ...rest, uri: uriTemplate })),
    ),
  ];
  if (page.nextCursor !== undefined)
    lines.push(`There are more resources. Call again with the cursor ${JSON.stringify(page.nextCursor)}.`);
  return lines.length === 0 ? "The server lists no resources." : lines.join("\n");
}

/** Many servers with resources have no templates, and do not know the method. */
async function templatesOf(link: ServerLink, signal: AbortSignal) {
  try {
    const request = { method: "resources/templates/list", params: {} } as const;
    return (await link.request(request, TEMPLATES_RESULT, signal)).resourceTemplates;
  } catch (error) {
    if (causeOfType(error, ProtocolError) === null) throw error;
    return [];
  }
}

function linesOf(heading: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, LISTED_MAX).map((line) => `- ${line}`);
  const countLeft = lines.length - shown.length;
  return [`${heading}:`, ...shown, ...(countLeft > 0 ? [`[${countLeft} more were left out.]`] : [])];
}

/** Schemas that check only used members: those of the client library take long on long lists. */
const READ_RESULT: (typeof specTypeSchemas)["ReadResourceResult"] = {
  "~standard": {
    ...specTypeSchemas.ReadResourceResult["~standard"],
    validate: (value) => (isReadResult(value) ? { value } : { issues: [{ message: "this is no resource" }] }),
  },
};

const LIST_RESULT: (typeof specTypeSchemas)["ListResourcesResult"] = {
  "~standard": {
    ...specTypeSchemas.ListResourcesResult["~standard"],
    validate: (value) => (isList(value) ? { value } : { issues: [{ message: "this is no list of resources" }] }),
  },
};

const TEMPLATES_RESULT: (typeof specTypeSchemas)["ListResourceTemplatesResult"] = {
  "~standard": {
    ...specTypeSchemas.ListResourceTemplatesResult["~standard"],
    validate: (value) =>
      isTemplateList(value) ? { value } : { issues: [{ message: "this is no list of templates" }] },
  },
};

function isReadResult(value: unknown): value is ReadResourceResult {
  return isRecord(value) && Array.isArray(value["contents"]) && value["contents"].every(isContent);
}

function isContent(value: unknown): boolean {
  if (!isRecord(value) || typeof value["uri"] !== "string" || !isTextOrAbsent(value["mimeType"])) return false;
  return typeof value["text"] === "string" || typeof value["blob"] === "string";
}

function isList(value: unknown): value is ListResourcesResult {
  if (!isRecord(value) || !Array.isArray(value["resources"]) || !isTextOrAbsent(value["nextCursor"])) return false;
  return value["resources"].every((entry) => isEntry(entry) && typeof entry["uri"] === "string");
}

function isTemplateList(value: unknown): value is ListResourceTemplatesResult {
  if (!isRecord(value) || !Array.isArray(value["resourceTemplates"])) return false;
  return value["resourceTemplates"].every((entry) => isEntry(entry) && typeof entry["uriTemplate"] === "string");
}

function isEntry(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value) || typeof value["name"] !== "string") return false;
  const { mimeType, description, size } = value;
  return isTextOrAbsent(mimeType) && isTextOrAbsent(description) && (size === undefined || typeof size === "number");
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
