import { createHash } from "node:crypto";
import { assertNever } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { mapInSlices } from "@antiphon/base/limits/slices.ts";
import type {
  InputItem,
  ItemReferenceInput,
  MessageInput,
  StoredItem,
} from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import { ContextTooLong } from "@antiphon/domain/storage.ts";
import {
  emptyArray,
  illFormedItemId,
  invalidType,
  invalidValue,
  missingParameter,
  unknownParameter,
  unsupportedFileData,
  unusableItem,
} from "../errors/parameter-errors.ts";
import { contextTooLong, itemNotStored } from "../errors/state-errors.ts";
import { typeWords } from "../errors/validation/validation-error.ts";
import { type CanonicalItem, expandInput } from "./expand-input.ts";
import { filledItem } from "./filled-item.ts";

/** Creates an id with this prefix and number, unique within the request. */
export type MakeId = (prefix: string, counter: number) => string;

/** A list of items as sent by a client. */
export interface SentList {
  readonly items: string | readonly InputItem[];
  /** The request member with the items, for errors. */
  readonly name: "input" | "items" | "conversation";
  /** The items before them, which may include the calls that they answer. */
  readonly after: readonly StoredItem[];
}

/**
 * The items in stored form, with references replaced by the stored items. Throws if an item is malformed or a reference
 * is unknown.
 */
export async function normalizeList(
  store: ResponseStore,
  owner: Owner,
  { items, name, after }: SentList,
  makeId: MakeId,
): Promise<readonly StoredItem[]> {
  const canonicalItems = expandInput(items, answersCalls(items) ? callTypes(after) : NONE, name);
  const ids = canonicalItems.filter(isReference).map((item) => item.id);
  const referencedItems = ids.length === 0 ? new Map<string, StoredItem>() : await findItems(store, owner, ids, name);
  return await mapInSlices(canonicalItems, (item, index) => {
    if (!isReference(item)) return normalizeItem(item, index, makeId, name);
    const target = referencedItems.get(item.id);
    if (target === undefined) throw itemNotStored(item.id, name);
    return target;
  });
}

function findItems(
  store: ResponseStore,
  owner: Owner,
  ids: readonly string[],
  name: SentList["name"],
): Promise<ReadonlyMap<string, StoredItem>> {
  return store.findItems(owner, ids).catch((error: unknown) => {
    throw error instanceof ContextTooLong ? contextTooLong(name) : error;
  });
}

function isReference(item: CanonicalItem): item is ItemReferenceInput {
  return item.type === "item_reference";
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Whether a `tool_result` is among the items, which needs the type of its call. */
function answersCalls(items: SentList["items"]): boolean {
  return typeof items !== "string" && items.some(({ type }) => type === "tool_result");
}

function callTypes(items: readonly StoredItem[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const item of items) {
    if ("call_id" in item && typeof item.call_id === "string" && item.type.endsWith("_call"))
      types.set(item.call_id, item.type);
  }
  return types;
}

type SentItem = Exclude<CanonicalItem, ItemReferenceInput>;
type Part = Exclude<MessageInput["content"], string>[number];

/**
 * The item in stored form: with an id and a status, with content as a list of parts, and without meaningless nulls.
 * `list` is the list's name in errors.
 */
export function normalizeItem(item: SentItem, index: number, makeId: MakeId, list = "input"): StoredItem {
  const param = `${list}[${index}]`;
  const type = item.type ?? "message";
  const sentId = checkedId(item.id, param);
  const members: Record<string, unknown> = isMessage(item) ? messageMembers(item, param) : withoutNulls(item, param);
  if (item.type === "local_shell_call_output") delete members["call_id"]; // Its id names the call.
  const id = outputIdOf(item, param) ?? sentId ?? makeId(PREFIXES[type] ?? "item", index);
  if (item.type === "tool_search_call" && !isRecord(item.arguments))
    throw invalidType(`${param}.arguments`, "an object", typeWords(item.arguments));
  if (SEARCHES_TOOLS.has(type)) members["execution"] ??= isClientCall(members["call_id"], id) ? "client" : "server";
  if (ANSWERS_A_CALL.has(type) && members["call_id"] === undefined) throw missingParameter(`${param}.call_id`);
  if (type === "reasoning") members["content"] ??= [];
  const status = STATUSLESS.has(type) ? {} : { status: isUnfinished(item) ? item.status : "completed" };
  const storedItem = filledItem({ ...members, id, type, ...status });
  if (storedItem === null) throw unusableItem(param, type);
  return storedItem;
}

/** The id of a local shell's output, derived from its call's name; null for other items. */
function outputIdOf(item: SentItem, param: string): string | null {
  if (item.type !== "local_shell_call_output") return null;
  const callId = item.call_id ?? item.id;
  if (callId == null) throw missingParameter(`${param}.id`);
  return localShellOutputId(callId);
}

/** Whether the item is incomplete: a message or a call that was cut and that no client ran. */
function isUnfinished(item: SentItem): item is Extract<SentItem, { status?: unknown }> {
  if (item.type === "apply_patch_call") return item.status === "in_progress";
  return (
    (isMessage(item) ? item.role === "assistant" : MAY_BE_CUT_OFF.has(item.type)) &&
    "status" in item &&
    item.status === "incomplete"
  );
}

const MAY_BE_CUT_OFF: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "shell_call",
  "local_shell_call",
  "computer_call",
]);

/** The reference's schema allows a null `call_id` here, but the reference requires one. */
const ANSWERS_A_CALL: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);

/** If `execution` is missing, it follows from `call_id`. */
const SEARCHES_TOOLS: ReadonlySet<string> = new Set(["tool_search_call", "tool_search_output"]);

/** Searches by a server have no call id, or their own id as the call id. */
function isClientCall(callId: unknown, id: string): boolean {
  return callId !== undefined && callId !== id;
}

function isMessage(item: SentItem): item is MessageInput {
  return item.type === undefined || item.type === "message";
}

const ID_FORM = /^[A-Za-z0-9_-]{1,64}$/;

/** Keeps any well-formed id: clients send items back with ids from this server or another provider. */
function checkedId(id: string | null | undefined, param: string): string | null {
  if (id == null || id === "") return null;
  if (!ID_FORM.test(id)) throw illFormedItemId(`${param}.id`, id);
  return id;
}

function messageMembers(item: MessageInput, param: string): Record<string, unknown> {
  const { role, phase } = item;
  if (phase !== undefined && role !== "assistant") throw unknownParameter(`${param}.phase`, "");
  const parts = typeof item.content === "string" ? [textPart(role, item.content)] : item.content;
  if (role === "user" && parts.length === 0) throw emptyArray(`${param}.content`);
  const content = parts.map((part, index) => normalizedPart(part, role, `${param}.content[${index}]`));
  return { content, role, ...(phase == null ? {} : { phase }) };
}

function textPart(role: MessageInput["role"], text: string): Part {
  return role === "assistant" ? { type: "output_text", text } : { type: "input_text", text };
}

const ASSISTANT_PARTS = ["output_text", "refusal"];
const USER_PARTS = ["input_text", "input_image", "input_file", "scoped_content", "input_audio"];

function normalizedPart(part: Part, role: MessageInput["role"], param: string): Record<string, unknown> {
  const fitting = role === "assistant" ? ASSISTANT_PARTS : USER_PARTS;
  if (!fitting.includes(part.type)) throw invalidValue(param, part.type, fitting);
  return normalizedContent(part, param);
}

function normalizedContent(part: Part, param: string): Record<string, unknown> {
  switch (part.type) {
    case "output_text":
      return { type: part.type, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [], text: part.text };
    case "input_image":
      return {
        detail: "auto",
        ...withoutNulls(part),
        file_id: part.file_id ?? null,
        image_url: part.image_url ?? null,
      };
    case "input_file":
      checkFileData(part.file_data, param);
      return { ...withoutNulls(part), file_id: part.file_id ?? null };
    case "input_text":
    case "input_audio":
    case "refusal":
      return withoutNulls(part);
    default:
      return assertNever(part);
  }
}

function withoutNulls(value: object, param = ""): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue;
    result[name] =
      name === "output" && Array.isArray(member)
        ? member.map((part, index) => outputPart(part, `${param}.output[${index}]`))
        : member;
  }
  return result;
}

/** A tool's output may contain images and files; they are listed in the same form as in messages. */
function outputPart(part: unknown, param: string): unknown {
  if (!isRecord(part)) return part;
  const members = withoutNulls(part);
  if (part["type"] === "input_image") {
    return { detail: "auto", ...members, file_id: part["file_id"] ?? null, image_url: part["image_url"] ?? null };
  }
  if (part["type"] !== "input_file") return members;
  checkFileData(part["file_data"], param);
  return { ...members, file_id: part["file_id"] ?? null };
}

/** Audio and video are refused as files: the reference accepts audio in another kind of part, and no video. */
const READABLE = /^(?!audio\/|video\/)[\w.+-]+\/[\w.+-]+$/i;

/** Throws unless the data of the `input_file` at `param` is a base64 data URL with a readable MIME type. */
function checkFileData(fileData: unknown, param: string): void {
  if (typeof fileData !== "string") return;
  const comma = fileData.indexOf(",");
  const head = /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(comma === -1 ? "" : fileData.slice(0, comma));
  const mimeType = head?.[1] ?? "";
  if (!READABLE.test(mimeType)) throw unsupportedFileData(`${param}.file_data`, mimeType);
}

const SHELL_OUTPUT_PREFIX = "lsho_";
/** The longest id that `ID_FORM` accepts. */
const ID_CHARS_MAX = 64;

/**
 * The id under which the output of a local shell call is stored. Clients send the call's id instead, but two items of
 * one conversation cannot share an id.
 */
export function localShellOutputId(callId: string): string {
  if (callId.startsWith(SHELL_OUTPUT_PREFIX)) return callId;
  const id = `${SHELL_OUTPUT_PREFIX}${callId.replace(/^lsh_/, "")}`;
  return id.length <= ID_CHARS_MAX
    ? id
    : `${SHELL_OUTPUT_PREFIX}${createHash("sha256").update(callId).digest("hex").slice(0, 48)}`;
}

/** The reference's id prefixes. Most outputs share the prefix of their calls. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fc",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  web_search_call: "ws",
  file_search_call: "fs",
  code_interpreter_call: "ci",
  image_generation_call: "ig",
  computer_call: "cu",
  computer_call_output: "cuo",
  mcp_list_tools: "mcpl",
  mcp_call: "mcp",
  mcp_approval_request: "mcpr",
  mcp_approval_response: "mcpa",
  local_shell_call: "lsh",
  local_shell_call_output: "lsho",
  shell_call: "sh",
  shell_call_output: "sho",
  apply_patch_call: "apc",
  apply_patch_call_output: "apco",
  tool_search_call: "tsc",
  tool_search_output: "tso",
  program: "cm",
  program_output: "cmo",
  compaction: "cmp",
};

/** Item types that have no status. */
const STATUSLESS = new Set([
  "reasoning",
  "compaction",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
  "additional_tools",
  "program",
  "agent_message",
  "multi_agent_call",
  "multi_agent_call_output",
  "configuration_update",
  "apply_patch_call_output",
]);
