import type { Response } from "../../../packages/client/src/index.ts";
import { isMembers, type Members } from "../base/members.ts";
import type { ShownItem } from "../items/fold-events.ts";

/** The settings that a response repeats, and the values that they have if nobody asks for others. */
const SETTINGS: readonly (readonly [name: string, usual: unknown])[] = [
  ["instructions", null],
  ["previous_response_id", null],
  ["conversation", null],
  ["tools", []],
  ["tool_choice", "auto"],
  ["parallel_tool_calls", true],
  ["text", { format: { type: "text" }, verbosity: "medium" }],
  ["reasoning", { effort: null, summary: null }],
  ["temperature", 1],
  ["top_p", null],
  ["presence_penalty", 0],
  ["frequency_penalty", 0],
  ["max_output_tokens", null],
  ["max_tool_calls", null],
  ["top_logprobs", 0],
  ["truncation", "disabled"],
  ["service_tier", "auto"],
  ["background", false],
  ["store", true],
  ["metadata", {}],
  ["prompt_cache_key", null],
  ["safety_identifier", null],
  ["user", null],
];

/** The request that would make such a response: its input, and the settings that are not the usual ones. */
export function requestOf(response: Response, input: readonly ShownItem[]): Members {
  const echoed: Members = { ...response };
  const settings = SETTINGS.flatMap(([name, usual]): [string, unknown][] => {
    const value = withoutNulls(echoed[name]);
    return value === undefined || isSame(value, withoutNulls(usual)) || isUsual(name, value) ? [] : [[name, value]];
  });
  return { model: response.model, input: shortInput(input), ...Object.fromEntries(settings) };
}

/** Servers repeat some defaults of their own; they need not be sent again. */
function isUsual(name: string, value: unknown): boolean {
  if (name === "service_tier") return value === "default";
  if (name === "top_p") return value === 1 || value === 0.98;
  if (name !== "reasoning") return false;
  return (
    isMembers(value) &&
    (Object.keys(value).length === 0 || (Object.keys(value).length === 1 && value["context"] !== undefined))
  );
}

/** How deep the API's own members stand. Below are schemas of people, in which null has a meaning. */
const OWN_DEPTH = 2;

/** The value without members that are null: they say as much as missing ones. */
function withoutNulls(value: unknown, depth = OWN_DEPTH): unknown {
  if (value === null) return undefined;
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((member: unknown) => withoutNulls(member, depth - 1));
  if (!isMembers(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const kept = withoutNulls(member, depth - 1);
    return kept === undefined ? [] : [[name, kept]];
  });
  return Object.fromEntries(members);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A single text of the user is written as people write it. */
function shortInput(input: readonly ShownItem[]): unknown {
  const [only] = input;
  const content = only?.["content"];
  const part: unknown = Array.isArray(content) && content.length === 1 ? content[0] : undefined;
  const isText = input.length === 1 && only?.type === "message" && only["role"] === "user";
  if (isText && isMembers(part) && part["type"] === "input_text" && typeof part["text"] === "string")
    return part["text"];
  return input.map(withoutServerMembers);
}

/** An item as a client sends it: without the id and status that the server gave it. */
export function withoutServerMembers({ id, status, ...item }: ShownItem): Members {
  const isNeeded =
    /_call$|^reasoning$|^mcp_|^item_reference$|^compaction$/.test(item.type) &&
    !/^(function|custom_tool)_call$/.test(item.type);
  return isNeeded
    ? { ...item, ...(id === undefined ? {} : { id }), ...(status === undefined ? {} : { status }) }
    : item;
}
