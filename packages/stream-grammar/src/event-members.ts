import { isRecord } from "@antiphon/base/json/records.ts";

/**
 * The members of each event besides `type` and `sequence_number`, by its type without `response.`. `streams` is a
 * `delta` that is an object.
 */
const MEMBERS: Readonly<Record<string, string>> = {
  created: "response",
  queued: "response",
  in_progress: "response",
  completed: "response",
  incomplete: "response",
  failed: "response",
  error: "error",
  keepalive: "",
  "output_item.added": "output_index item",
  "output_item.done": "output_index item",
  "content_part.added": "item_id output_index content_index part",
  "content_part.done": "item_id output_index content_index part",
  "output_text.delta": "item_id output_index content_index delta logprobs",
  "output_text.done": "item_id output_index content_index text logprobs",
  "output_text.annotation.added": "item_id output_index content_index annotation_index annotation",
  "refusal.delta": "item_id output_index content_index delta",
  "refusal.done": "item_id output_index content_index refusal",
  "reasoning_text.delta": "item_id output_index content_index delta",
  "reasoning_text.done": "item_id output_index content_index text",
  "reasoning_summary_part.added": "item_id output_index summary_index part",
  "reasoning_summary_part.done": "item_id output_index summary_index part",
  "reasoning_summary_text.delta": "item_id output_index summary_index delta",
  "reasoning_summary_text.done": "item_id output_index summary_index text",
  "function_call_arguments.delta": "item_id output_index delta",
  "function_call_arguments.done": "item_id output_index arguments",
  "custom_tool_call_input.delta": "item_id output_index delta",
  "custom_tool_call_input.done": "item_id output_index input",
  "mcp_call_arguments.delta": "item_id output_index delta",
  "mcp_call_arguments.done": "item_id output_index arguments",
  "mcp_call.in_progress": "item_id output_index",
  "mcp_call.completed": "item_id output_index",
  "mcp_call.failed": "item_id output_index",
  "mcp_list_tools.in_progress": "item_id output_index",
  "mcp_list_tools.completed": "item_id output_index",
  "mcp_list_tools.failed": "item_id output_index",
  "web_search_call.in_progress": "item_id output_index",
  "web_search_call.searching": "item_id output_index",
  "web_search_call.completed": "item_id output_index",
  "file_search_call.in_progress": "item_id output_index",
  "file_search_call.searching": "item_id output_index",
  "file_search_call.completed": "item_id output_index",
  "code_interpreter_call.in_progress": "item_id output_index",
  "code_interpreter_call.interpreting": "item_id output_index",
  "code_interpreter_call.completed": "item_id output_index",
  "code_interpreter_call_code.delta": "item_id output_index delta",
  "code_interpreter_call_code.done": "item_id output_index code",
  "image_generation_call.in_progress": "item_id output_index",
  "image_generation_call.generating": "item_id output_index",
  "image_generation_call.partial_image": "item_id output_index partial_image_index partial_image_b64",
  "image_generation_call.completed": "item_id output_index",
  "shell_call_command.added": "output_index command_index command",
  "shell_call_command.delta": "output_index command_index delta",
  "shell_call_command.done": "output_index command_index command",
  "shell_call_output_content.delta": "item_id output_index command_index streams",
  "shell_call_output_content.done": "item_id output_index command_index output",
  "apply_patch_call_operation_diff.delta": "item_id output_index delta",
  "apply_patch_call_operation_diff.done": "item_id output_index diff",
  "compaction.compacting": "item_id output_index",
  "audio.delta": "delta",
  "audio.done": "",
  "audio.transcript.delta": "delta",
  "audio.transcript.done": "",
};

type Kind = readonly [words: string, fits: (value: unknown) => boolean];

const OBJECT: Kind = ["an object", isRecord];
const LIST: Kind = ["a list", Array.isArray];
const TEXT: Kind = ["a text", (value) => typeof value === "string"];
const ID: Kind = ["a non-empty text", (value) => typeof value === "string" && value !== ""];
const INDEX: Kind = [
  "a whole number of at least 0",
  (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
];

const OBJECTS: ReadonlySet<string> = new Set(["response", "item", "part", "annotation", "error"]);
const LISTS: ReadonlySet<string> = new Set(["logprobs", "output"]);

/** All event types in full. */
export const EVENT_TYPES: readonly string[] = Object.keys(MEMBERS).map(typeOfName);

/** Shortens `response.output_text.delta` to `output_text.delta`; null for an unknown type. */
export function nameOfType(type: string): string | null {
  const name = type.replace(/^response\./, "");
  return Object.hasOwn(MEMBERS, name) && typeOfName(name) === type ? name : null;
}

export function typeOfName(name: string): string {
  return name === "error" || name === "keepalive" ? name : `response.${name}`;
}

export function isAboutItem(name: string): boolean {
  return MEMBERS[name]?.includes("output_index") === true;
}

/** The required members that are missing or have a wrong type, one sentence each. */
export function findMemberFaults(name: string, event: Readonly<Record<string, unknown>>): readonly string[] {
  const members = (MEMBERS[name] ?? "").split(" ").filter((member) => member !== "");
  return members.flatMap((text) => {
    const [member, [words, fits]] = text === "streams" ? ["delta", OBJECT] : [text, memberKind(text)];
    if (!Object.hasOwn(event, member)) return [`'${member}' is missing`];
    return fits(event[member]) ? [] : [`'${member}' is not ${words}`];
  });
}

function memberKind(member: string): Kind {
  if (OBJECTS.has(member)) return OBJECT;
  if (LISTS.has(member)) return LIST;
  if (member.endsWith("_index")) return INDEX;
  return member === "item_id" ? ID : TEXT;
}
