import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItem, ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { UnnumberedEvent } from "../wire-event.ts";

/** The place of an item in its stream. */
export interface HostedPlace {
  readonly item_id: string;
  readonly output_index: number;
}

/** Event types that report only an item's progress. */
export type ProgressType = Extract<
  UnnumberedEvent["type"],
  | `response.${"web_search" | "file_search"}_call.${"in_progress" | "searching" | "completed"}`
  | `response.code_interpreter_call.${"in_progress" | "interpreting" | "completed"}`
  | `response.image_generation_call.${"in_progress" | "generating" | "completed"}`
  | `response.${"mcp_call" | "mcp_list_tools"}.${"in_progress" | "completed" | "failed"}`
>;

/** The events of an item type between `output_item.added` and `output_item.done`. */
export interface ItemShape {
  /** Follows `output_item.added`. */
  readonly begins: ProgressType | null;
  /** The step that every complete item shows. Its event comes once, after the texts. */
  readonly works: { readonly step: ToolStep["type"]; readonly shownAs: ProgressType } | null;
  /** Comes before `output_item.done`, unless the item is incomplete. */
  readonly ends: ProgressType | null;
  /** Replaces `ends` if the item failed. */
  readonly fails: ProgressType | null;
  /** The texts sent as deltas. */
  readonly texts: TextShape | null;
}

export interface TextShape {
  /** The maximum number of texts in an item. */
  readonly textsMax: number;
  /** The event that begins a text; null if there is none. */
  readonly addedEvent: ((place: HostedPlace, index: number) => UnnumberedEvent) | null;
  readonly delta: (place: HostedPlace, index: number, delta: string) => UnnumberedEvent;
  readonly doneEvent: (place: HostedPlace, index: number, text: string) => UnnumberedEvent;
}

const CODE: TextShape = {
  textsMax: 1,
  addedEvent: null,
  delta: (place, _index, delta) => ({ type: "response.code_interpreter_call_code.delta", ...place, delta }),
  doneEvent: (place, _index, code) => ({ type: "response.code_interpreter_call_code.done", ...place, code }),
};

const ARGUMENTS: TextShape = {
  textsMax: 1,
  addedEvent: null,
  delta: (place, _index, delta) => ({ type: "response.mcp_call_arguments.delta", ...place, delta }),
  doneEvent: (place, _index, text) => ({ type: "response.mcp_call_arguments.done", ...place, arguments: text }),
};

const DIFF: TextShape = {
  textsMax: 1,
  addedEvent: null,
  delta: (place, _index, delta) => ({ type: "response.apply_patch_call_operation_diff.delta", ...place, delta }),
  doneEvent: (place, _index, diff) => ({ type: "response.apply_patch_call_operation_diff.done", ...place, diff }),
};

/** The reference sends no `item_id` in events about commands. */
const COMMANDS: TextShape = {
  textsMax: Number.POSITIVE_INFINITY,
  addedEvent: ({ output_index }, index) => ({
    type: "response.shell_call_command.added",
    output_index,
    command_index: index,
    command: "",
  }),
  delta: ({ output_index }, index, delta) => ({
    type: "response.shell_call_command.delta",
    output_index,
    command_index: index,
    delta,
  }),
  doneEvent: ({ output_index }, index, command) => ({
    type: "response.shell_call_command.done",
    output_index,
    command_index: index,
    command,
  }),
};

/** Item types with only `output_item.added` and `output_item.done`. */
const WHOLE: ItemShape = { begins: null, works: null, ends: null, fails: null, texts: null };

export const ITEM_SHAPES: Readonly<Record<HostedItem["type"], ItemShape>> = {
  web_search_call: {
    begins: "response.web_search_call.in_progress",
    works: { step: "searching", shownAs: "response.web_search_call.searching" },
    ends: "response.web_search_call.completed",
    fails: "response.web_search_call.completed",
    texts: null,
  },
  file_search_call: {
    begins: "response.file_search_call.in_progress",
    works: { step: "searching", shownAs: "response.file_search_call.searching" },
    ends: "response.file_search_call.completed",
    fails: "response.file_search_call.completed",
    texts: null,
  },
  code_interpreter_call: {
    begins: "response.code_interpreter_call.in_progress",
    works: { step: "interpreting", shownAs: "response.code_interpreter_call.interpreting" },
    ends: "response.code_interpreter_call.completed",
    fails: "response.code_interpreter_call.completed",
    texts: CODE,
  },
  image_generation_call: {
    begins: "response.image_generation_call.in_progress",
    works: { step: "generating", shownAs: "response.image_generation_call.generating" },
    ends: "response.image_generation_call.completed",
    fails: "response.image_generation_call.completed",
    texts: null,
  },
  mcp_list_tools: {
    begins: "response.mcp_list_tools.in_progress",
    works: null,
    ends: "response.mcp_list_tools.completed",
    fails: "response.mcp_list_tools.failed",
    texts: null,
  },
  mcp_call: {
    begins: "response.mcp_call.in_progress",
    works: null,
    ends: "response.mcp_call.completed",
    fails: "response.mcp_call.failed",
    texts: ARGUMENTS,
  },
  shell_call: { ...WHOLE, texts: COMMANDS },
  apply_patch_call: { ...WHOLE, texts: DIFF },
  shell_call_output: WHOLE,
  mcp_approval_request: WHOLE,
  computer_call: WHOLE,
  local_shell_call: WHOLE,
  tool_search_call: WHOLE,
  tool_search_output: WHOLE,
  program: WHOLE,
  program_output: WHOLE,
};

export function isHostedItem(item: OutputItem): item is HostedItem {
  return Object.hasOwn(ITEM_SHAPES, item.type);
}
