import { isRecord } from "@antiphon/base/json/records.ts";

/** A text that is sent in deltas and then as a whole. */
export interface TextFamily {
  /** Its events are `NAME.delta` and `NAME.done`; a command also has `NAME.added`. */
  readonly name: string;
  /** The member of the done event that holds the whole text. */
  readonly whole: string;
  /** The path of the text in its item; `#` is the index. */
  readonly path: string;
}

const FAMILIES: readonly TextFamily[] = [
  { name: "output_text", whole: "text", path: "content.#.text" },
  { name: "refusal", whole: "refusal", path: "content.#.refusal" },
  { name: "reasoning_text", whole: "text", path: "content.#.text" },
  { name: "reasoning_summary_text", whole: "text", path: "summary.#.text" },
  { name: "function_call_arguments", whole: "arguments", path: "arguments" },
  { name: "mcp_call_arguments", whole: "arguments", path: "arguments" },
  { name: "custom_tool_call_input", whole: "input", path: "input" },
  { name: "code_interpreter_call_code", whole: "code", path: "code" },
  { name: "apply_patch_call_operation_diff", whole: "diff", path: "operation.diff" },
  { name: "shell_call_command", whole: "command", path: "action.commands.#" },
];

const BY_NAME: ReadonlyMap<string, TextFamily> = new Map(FAMILIES.map((family) => [family.name, family]));

/** The paths in each item type that must be empty before the first delta. */
const EMPTY_AT_FIRST: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["message", ["content"]],
  ["reasoning", ["content", "summary"]],
  ["function_call", ["arguments"]],
  ["mcp_call", ["arguments"]],
  ["custom_tool_call", ["input"]],
  ["code_interpreter_call", ["code"]],
  ["apply_patch_call", ["operation.diff"]],
  ["shell_call", ["action.commands"]],
]);

export function familyOf(eventName: string): TextFamily | null {
  return BY_NAME.get(eventName.replace(/\.(added|delta|done)$/, "")) ?? null;
}

/** The paths that must be empty in an item that was just added, but are not. */
export function filledPaths(item: Readonly<Record<string, unknown>>): readonly string[] {
  const paths = EMPTY_AT_FIRST.get(item["type"]) ?? [];
  return paths.filter((path) => {
    const value = valueAt(item, path);
    return (typeof value === "string" || Array.isArray(value)) && value.length > 0;
  });
}

/** The value at a path such as `content.0.text`. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const step of path.split(".")) {
    if (Array.isArray(at)) at = at[Number(step)];
    else if (isRecord(at)) at = at[step];
    else return undefined;
  }
  return at;
}

/** A value in a fault's text: JSON, cut to 80 characters. */
export function quoteValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= QUOTE_CHARACTERS_MAX ? text : `${text.slice(0, QUOTE_CHARACTERS_MAX)}…`;
}

const QUOTE_CHARACTERS_MAX = 80;
