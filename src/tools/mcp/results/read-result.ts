import { isRecord } from "@antiphon/base/json/records.ts";
import type { ToolOutputContentPart } from "@antiphon/contracts/responses-api/types.ts";
import {
  type CallToolResult,
  type ContentBlock,
  type ResourceLink,
  specTypeSchemas,
} from "@modelcontextprotocol/client";
import type { ServerSecrets } from "../authorization/server-secrets.ts";

const PICTURES_MAX = 16;
const PICTURE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z\d+/]+={0,2}$/;
const KILOBYTE = 1000;

/**
 * The schema of a call's result. Most results are only texts, which are checked here: the client library's schema takes
 * many times as long, and reads the other results.
 */
export const CALL_RESULT: (typeof specTypeSchemas)["CallToolResult"] = {
  "~standard": {
    ...specTypeSchemas.CallToolResult["~standard"],
    validate: (value) => (isOnlyTexts(value) ? { value } : specTypeSchemas.CallToolResult["~standard"].validate(value)),
  },
};

/** The model's abilities, and the limits of a shown result. */
export interface ShownLimits {
  readonly images: boolean;
  readonly charactersMax: number;
  readonly secrets: ServerSecrets;
}

/** A result as shown to a client and a model. */
export interface ReadResult {
  readonly output: string;
  /** Pictures, for models with vision. */
  readonly parts: readonly ToolOutputContentPart[];
}

export function readResult(result: CallToolResult, { charactersMax, images, secrets }: ShownLimits) {
  const lines: string[] = [];
  const parts: ToolOutputContentPart[] = [];
  for (const block of result.content) {
    const picture = images && parts.length < PICTURES_MAX ? pictureOf(block) : null;
    if (picture !== null) parts.push(picture);
    lines.push(secrets.redact(lineOf(block)));
  }
  return { output: cut(lines.join("\n"), charactersMax), parts } satisfies ReadResult;
}

/** The text, or its beginning and a sentence with the missing length. */
export function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const rest = text.length - charactersMax;
  return `${text.slice(0, charactersMax).toWellFormed()}\n[The result was cut here; ${rest} more characters were left out.]`;
}

function lineOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return describeBlob(block.mimeType, block.data);
    case "resource_link":
      return describeResource(block);
    case "resource":
      return "text" in block.resource
        ? block.resource.text
        : describeBlob(blobType(block.resource), block.resource.blob);
  }
}

/** One line that names a resource, and what its server says of it. */
export function describeResource({ name, uri, mimeType, size, description }: NamedResource): string {
  const place = [uri, mimeType, size === undefined ? undefined : describeSize(size)].filter((one) => one !== undefined);
  const line = `${name} (${place.join(", ")})`;
  return description === undefined || description === "" ? line : `${line}: ${description.replaceAll(/\s+/g, " ")}`;
}

/** A resource or a link to one. `size`: in bytes. */
type NamedResource = Pick<ResourceLink, "name" | "uri" | "mimeType" | "size" | "description">;

function pictureOf(block: ContentBlock): ToolOutputContentPart | null {
  if (block.type === "resource")
    return "blob" in block.resource ? pictureUrl(blobType(block.resource), block.resource.blob) : null;
  return block.type === "image" ? pictureUrl(block.mimeType, block.data) : null;
}

function pictureUrl(mimeType: string, base64: string): ToolOutputContentPart | null {
  if (!PICTURE_TYPES.has(mimeType) || !BASE64.test(base64)) return null;
  return { type: "input_image", detail: "auto", image_url: `data:${mimeType};base64,${base64}` };
}

function blobType({ mimeType = "application/octet-stream" }: { readonly mimeType?: string | undefined }): string {
  return mimeType;
}

function describeBlob(mimeType: string, base64: string): string {
  return `[${mimeType.slice(0, 100)}, ${describeSize(Buffer.byteLength(base64, "base64"))}]`;
}

function describeSize(bytes: number): string {
  return bytes < KILOBYTE ? `${bytes} bytes` : `${Math.round(bytes / KILOBYTE)} kB`;
}

/** Whether a call's result consists only of texts and possibly an error mark. */
function isOnlyTexts(value: unknown): value is CallToolResult {
  if (!isRecord(value)) return false;
  const { content, isError = false, ...others } = value;
  if (!Array.isArray(content) || typeof isError !== "boolean" || Object.keys(others).length > 0) return false;
  return content.every(isText);
}

function isText(block: unknown): boolean {
  return (
    isRecord(block) && block["type"] === "text" && typeof block["text"] === "string" && Object.keys(block).length === 2
  );
}
