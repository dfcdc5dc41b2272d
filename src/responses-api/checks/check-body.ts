import { isRecord } from "@antiphon/base/json/records.ts";
import type { Validate } from "@antiphon/contracts/responses-api/readers.js";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import { createResponseRequestFields, type RequestFields } from "@antiphon/contracts/responses-api/validators.js";
import {
  illFormedId,
  illFormedItemId,
  invalidType,
  missingParameter,
  movedParameter,
  mutuallyExclusive,
  unknownParameter,
} from "../errors/parameter-errors.ts";
import { bodyNotAnObject } from "../errors/request-errors.ts";
import { sizeError } from "../errors/validation/limit-error.ts";
import { typeWords, validationError } from "../errors/validation/validation-error.ts";

/** Members of the Chat Completions API, and their names in this API. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ["messages", "input"],
  ["response_format", "text.format"],
]);

/** Members of the Chat Completions API that have another name here. */
const NAMED_OTHERWISE: ReadonlyMap<string, string> = new Map([
  ["function_call", "tool_choice"],
  ["functions", "tools"],
  ["max_completion_tokens", "max_output_tokens"],
  ["max_tokens", "max_output_tokens"],
  ["reasoning_effort", "reasoning.effort"],
  ["verbosity", "text.verbosity"],
]);

/**
 * Checks the body of a create call in the reference's order: `model`, presence of `input`, unknown members, each
 * member's schema, members that exclude each other. Each stage ends before the next begins. Stored state and the
 * context are checked later. Throws the first error found.
 */
export function checkCreateBody(body: unknown): CreateResponseRequest {
  return checkMembersOf(createResponseRequestFields, body);
}

/** Like `checkCreateBody`, for a request with further members. */
export function checkMembersOf(fields: RequestFields, body: unknown): CreateResponseRequest & Record<string, unknown> {
  if (!isRecord(body)) throw bodyNotAnObject(typeWords(body));
  checkPresence(body);
  checkNames(fields, body);
  checkListSizes(body);
  const request = withReferences(withReferences(withoutCodexMetadata(withoutNulls(body)), "input"), "conversation");
  checkMembers(fields, request);
  checkExclusion(request);
  return request;
}

/** Checks each member alone, in the reference's order. Unknown members have already been refused. */
function checkMembers(
  fields: RequestFields,
  request: Record<string, unknown>,
): asserts request is CreateResponseRequest & Record<string, unknown> {
  for (const name of fields.order) {
    const value = request[name];
    if (value === undefined) continue; // Most of the forty are not sent.
    const validate = fields.properties[name];
    if (validate !== undefined && !validate(value)) throw validationError(validate.errors ?? [], name);
  }
}

/** Treats a null member as one that was not sent. */
function withoutNulls(body: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(body).includes(null)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Codex adds this member to each input item. The reference accepts it and never shows it. */
const CODEX_METADATA = "internal_chat_message_metadata_passthrough";

function withoutCodexMetadata(body: Record<string, unknown>): Record<string, unknown> {
  const { input } = body;
  if (!Array.isArray(input) || !input.some((item: unknown) => isRecord(item) && CODEX_METADATA in item)) return body;
  return {
    ...body,
    input: input.map((item: unknown) => {
      if (!isRecord(item)) return item;
      const { [CODEX_METADATA]: _metadata, ...rest } = item;
      return rest;
    }),
  };
}

/** An element with an id, and without type, role and content, is an item reference. */
function withReferences(body: Record<string, unknown>, list: string): Record<string, unknown> {
  const items = body[list];
  if (!Array.isArray(items) || !items.some(isUntypedReference)) return body;
  return {
    ...body,
    [list]: items.map((item: unknown) => (isUntypedReference(item) ? { ...item, type: "item_reference" } : item)),
  };
}

/** Checks the body of a call that adds items to a conversation. Throws the first error found. */
export function checkItemsBody<T>(body: unknown, validate: Validate<T>): T {
  const request = isRecord(body) ? withReferences(body, "items") : body;
  if (!validate(request)) throw validationError(validate.errors ?? [], "");
  return request;
}

/**
 * Checks the body of a call that takes the context of a create call, but fewer required members. Throws the first error
 * found.
 */
export function checkContextBody<T>(body: unknown, validate: Validate<T>): T {
  if (!isRecord(body)) throw bodyNotAnObject(typeWords(body));
  checkListSizes(body);
  const request = withReferences(withReferences(withoutCodexMetadata(body), "input"), "conversation");
  if (!validate(request)) throw validationError(validate.errors ?? [], "");
  checkExclusion(request);
  return request;
}

function isUntypedReference(item: unknown): item is Record<string, unknown> {
  return (
    isRecord(item) &&
    item["type"] == null &&
    typeof item["id"] === "string" &&
    item["role"] === undefined &&
    item["content"] === undefined
  );
}

function checkPresence(body: Record<string, unknown>): void {
  const { model } = body;
  if (model === undefined) throw missingParameter("model");
  if (typeof model !== "string")
    throw invalidType("model", "a string", model === null ? "an object" : typeWords(model));
  if (body["input"] === null) throw invalidType("input", "a string", "an object");
  const elsewhere = ["previous_response_id", "prompt", "conversation"].some((name) => body[name] != null);
  // A Chat Completions body has `messages` and no `input`: the hint helps more than the order of checks.
  const replacement = body["messages"] === undefined ? null : MOVED.get("messages");
  if (body["input"] === undefined && !elsewhere)
    throw replacement == null ? missingParameter("input") : movedParameter("messages", replacement);
}

function checkNames({ order: knownNames }: RequestFields, body: Record<string, unknown>): void {
  const sentNames = new Set(Object.keys(body));
  for (const name of sentNames) {
    if (knownNames.includes(name)) continue;
    const replacement = MOVED.get(name);
    throw replacement === undefined
      ? unknownParameter(name, spellingHint(name, knownNames, sentNames))
      : movedParameter(name, replacement);
  }
}

function checkExclusion(request: { readonly previous_response_id?: unknown; readonly conversation?: unknown }): void {
  const { previous_response_id: previous, conversation } = request;
  if (previous != null && conversation != null) throw mutuallyExclusive("previous_response_id", "conversation");
  checkId("previous_response_id", previous, "resp");
  checkId("conversation", conversation, "conv");
  if (isRecord(conversation)) checkId("conversation.id", conversation["id"], "conv");
}

function checkId(param: string, id: unknown, prefix: string): void {
  if (typeof id !== "string") return;
  if (!id.startsWith(prefix)) throw illFormedId(param, id, prefix);
  if (!/^[\w-]+$/.test(id)) throw illFormedItemId(param, id);
}

/**
 * The maximum items of a request; an item counts once per part. More would block other requests, and no model reads
 * that many.
 */
export const ITEMS_MAX = 10_000;
/**
 * Tools of a request, those in namespaces included; also the limit of `allowed_tools`. The reference's limit is 128.
 */
export const TOOLS_MAX = 2_000;

/** Refuses lists that are too long, before any other code iterates over them. */
function checkListSizes(body: Readonly<Record<string, unknown>>): void {
  for (const list of ["input", "conversation"]) checkSize(list, ITEMS_MAX, sum(body[list], partCount));
  checkSize("tools", TOOLS_MAX, sum(body["tools"], toolCount));
  const { tool_choice: choice } = body;
  if (isRecord(choice))
    checkSize(
      "tool_choice.tools",
      TOOLS_MAX,
      sum(choice["tools"], () => 1),
    );
}

function checkSize(param: string, max: number, size: number): void {
  if (size > max) throw sizeError("maxItems", param, max, size);
}

function sum(list: unknown, count: (element: unknown) => number): number {
  return Array.isArray(list) ? list.reduce<number>((total, element) => total + count(element), 0) : 0;
}

/** Builds no lists and names each member, because it also counts lists that are far too long. */
function partCount(item: unknown): number {
  if (!isRecord(item)) return 1;
  const { content, output, summary, tools } = item;
  return Math.max(1, lengthOf(content), lengthOf(output), lengthOf(summary), lengthOf(tools));
}

function toolCount(tool: unknown): number {
  return isRecord(tool) ? Math.max(1, lengthOf(tool["tools"])) : 1;
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** The largest edit distance at which a known key is suggested. */
const DISTANCE_MAX = 2;

/**
 * A text such as ` Did you mean 'store' or 'stream'?`: the member with the same meaning, or the two nearest known
 * members that were not sent. Empty if none is near.
 */
function spellingHint(unknown: string, knownNames: readonly string[], sentNames: ReadonlySet<string>): string {
  const otherwise = NAMED_OTHERWISE.get(unknown);
  if (otherwise !== undefined) return ` Did you mean '${otherwise}'?`;
  const near = knownNames
    .filter((key) => !sentNames.has(key))
    // Avoids computing the distance to a name of megabytes.
    .filter((key) => Math.abs(key.length - unknown.length) <= DISTANCE_MAX)
    .map((key) => ({ key, distance: levenshtein(unknown, key) }))
    .filter(({ distance }) => distance <= DISTANCE_MAX)
    .toSorted((a, b) => a.distance - b.distance || (a.key < b.key ? -1 : 1))
    .slice(0, 2);
  return near.length === 0 ? "" : ` Did you mean ${near.map(({ key }) => `'${key}'`).join(" or ")}?`;
}

function levenshtein(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replacement = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replacement, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
