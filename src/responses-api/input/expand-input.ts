import { assertNever } from "@antiphon/base/assert.ts";
import type { InputItem, MessageInput, ToolOutputContentPart } from "@antiphon/contracts/responses-api/types.ts";
import {
  validateToolOutputContentPart,
  validateTopLevelInputFile,
  validateTopLevelInputImage,
  validateTopLevelInputText,
} from "@antiphon/contracts/responses-api/validators.js";
import { missingParameter, mutuallyExclusive } from "../errors/parameter-errors.ts";

type InputOf<T extends string> = Extract<InputItem, { type: T }>;
type TopLevelPart = InputOf<"input_text" | "input_image" | "input_audio" | "input_file">;
type Part = Exclude<MessageInput["content"], string>[number];

/** An element of `input` that the reference API accepts too. */
export type CanonicalItem = Exclude<InputItem, TopLevelPart | InputOf<"tool_result">>;

/**
 * Translates our extensions of `input` into the reference's item types. A string becomes a user message; consecutive
 * top-level parts become one user message; a `tool_result` becomes the output of its call. `callTypes` maps the call
 * ids of earlier items to item types; `list` is the list's name in errors. Throws if a part lacks its data or has it
 * twice.
 */
export function expandInput(
  input: string | readonly InputItem[],
  callTypes: ReadonlyMap<string, string>,
  list = "input",
): CanonicalItem[] {
  if (typeof input === "string") return input === "" ? [] : [userMessage([{ type: "input_text", text: input }])];
  const result: CanonicalItem[] = [];
  let parts: Part[] = [];
  const sentTypes = sentCallTypes(input);
  const typeOfCall = (callId: string): string | undefined => sentTypes.get(callId) ?? callTypes.get(callId);
  const flush = (): void => {
    if (parts.length > 0) result.push(userMessage(parts));
    parts = [];
  };
  for (const [index, item] of input.entries()) {
    if (isTopLevelPart(item)) {
      parts.push(expandPart(item, `${list}[${index}]`));
      continue;
    }
    flush();
    result.push(item.type === "tool_result" ? outputOf(item, `${list}[${index}]`, typeOfCall) : item);
  }
  flush();
  return result;
}

/** Whether a request uses elements of `input` that are extensions of this server. */
export function usesExtensionItems(input: string | readonly InputItem[]): boolean {
  return typeof input !== "string" && input.some((item) => isTopLevelPart(item) || item.type === "tool_result");
}

function userMessage(content: Part[]): CanonicalItem {
  return { type: "message", role: "user", content };
}

function isTopLevelPart(item: InputItem): item is TopLevelPart {
  return (
    item.type === "input_text" ||
    item.type === "input_image" ||
    item.type === "input_audio" ||
    item.type === "input_file"
  );
}

function expandPart(item: TopLevelPart, param: string): Part {
  switch (item.type) {
    case "input_text":
      return { type: "input_text", text: item.text };
    case "input_image": {
      const url = item.image_url ?? dataUrl(item.data, item.mime_type ?? "image/png");
      if (url === null && item.file_id == null) throw missingParameter(`${param}.image_url`);
      return { type: "input_image", detail: item.detail ?? "auto", file_id: item.file_id ?? null, image_url: url };
    }
    case "input_audio":
      return { type: "input_audio", input_audio: audioOf(item, param) };
    case "input_file": {
      const data = item.file_data ?? dataUrl(item.data, item.mime_type ?? "application/octet-stream");
      if (data === null && item.file_id == null && item.file_url == null) throw missingParameter(`${param}.file_data`);
      return {
        type: "input_file",
        file_data: data,
        file_id: item.file_id ?? null,
        file_url: item.file_url ?? null,
        filename: item.filename ?? null,
      };
    }
    default:
      return assertNever(item);
  }
}

/** Each audio member may be inside `input_audio` or beside it, but not both. */
function audioOf(item: InputOf<"input_audio">, param: string): Extract<Part, { type: "input_audio" }>["input_audio"] {
  const inside = item.input_audio ?? {};
  const beside = {
    ...(item.data == null ? {} : { data: item.data }),
    ...(item.format == null ? {} : { format: item.format }),
    ...(item.sample_rate_hz == null ? {} : { sample_rate_hz: item.sample_rate_hz }),
    ...(item.channels == null ? {} : { channels: item.channels }),
    ...(item.language_hint == null ? {} : { language_hint: item.language_hint }),
  };
  const twice = Object.keys(beside).find((name) => name in inside);
  if (twice !== undefined) throw mutuallyExclusive(`${param}.${twice}`, `${param}.input_audio.${twice}`);
  const { data, format = "wav", ...description } = { ...beside, ...inside };
  if (data === undefined) throw missingParameter(`${param}.data`);
  return { data, format, ...description };
}

function dataUrl(base64: string | null | undefined, mimeType: string): string | null {
  return base64 == null ? null : `data:${mimeType};base64,${base64}`;
}

/** The types of the calls in `input`, by call id. If calls share an id, the first counts. */
function sentCallTypes(input: readonly InputItem[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const item of input) {
    if (!("call_id" in item) || typeof item.call_id !== "string" || !item.type?.endsWith("_call")) continue;
    if (!types.has(item.call_id)) types.set(item.call_id, item.type);
  }
  return types;
}

function outputOf(
  result: InputOf<"tool_result">,
  param: string,
  typeOfCall: (callId: string) => string | undefined,
): CanonicalItem {
  const output = resultOutput(result.output, `${param}.output`);
  const type = typeOfCall(result.call_id) === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output";
  return { type, call_id: result.call_id, output };
}

/** Keeps text and lists of known parts; writes anything else as JSON text. */
function resultOutput(output: InputOf<"tool_result">["output"], param: string): string | ToolOutputContentPart[] {
  if (typeof output === "string") return output;
  const parts = Array.isArray(output)
    ? output.map((element: unknown, at) => resultPart(element, `${param}[${at}]`))
    : [];
  const inputParts = parts.filter((part) => part !== null);
  return inputParts.length > 0 && inputParts.length === parts.length ? inputParts : JSON.stringify(output);
}

/** Accepts a part in the reference's form or in the form of a top-level part of `input`; null for anything else. */
function resultPart(element: unknown, param: string): ToolOutputContentPart | null {
  if (validateToolOutputContentPart(element)) return element;
  const isPart =
    validateTopLevelInputText(element) || validateTopLevelInputImage(element) || validateTopLevelInputFile(element);
  if (!isPart) return null;
  const part = expandPart(element, param);
  return validateToolOutputContentPart(part) ? part : null;
}
