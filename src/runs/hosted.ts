import type {
  OutputItem,
  ResponseStreamEvent,
  ShellCommandOutput,
  ToolOutputContentPart,
} from "../../generated/responses-api/types.ts";

/** A function that this server runs itself. An adapter offers it to the model under a free name. */
export interface HostedFunction {
  readonly type: "hosted_function";
  readonly name: string;
  /** The label of the MCP server it belongs to; null for the tools of this server. */
  readonly server: string | null;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * A hosted function that must be called. Entries of `allowed_tools` that mean a hosted function have the same members.
 */
export interface HostedFunctionChoice {
  readonly type: "hosted_function";
  readonly name: string;
  readonly server: string | null;
}

/** In a context: a call of a hosted function, word for word as the model made it. */
export interface HostedCall {
  readonly type: "hosted_call";
  readonly callId: string;
  readonly name: string;
  readonly server: string | null;
  /** JSON text. */
  readonly arguments: string;
}

/** In a context: what the model is shown of the call's result. Pictures are parts; `output` is the rest. */
export interface HostedOutput {
  readonly type: "hosted_output";
  readonly callId: string;
  readonly output: string;
  readonly parts: readonly ToolOutputContentPart[];
}

/** The items that hosted tools make. */
export type HostedItem = Extract<
  OutputItem,
  {
    type:
      | "web_search_call"
      | "file_search_call"
      | "code_interpreter_call"
      | "image_generation_call"
      | "mcp_list_tools"
      | "mcp_call"
      | "mcp_approval_request"
      | "computer_call"
      | "local_shell_call"
      | "shell_call"
      | "shell_call_output"
      | "apply_patch_call"
      | "tool_search_call"
      | "tool_search_output";
  }
>;

type PartialImage = Extract<ResponseStreamEvent, { type: "response.image_generation_call.partial_image" }>;

/** A step of a tool at work, each one wire event. */
export type ToolStep =
  | { readonly type: "searching" }
  | { readonly type: "interpreting" }
  | { readonly type: "generating" }
  /** Without the members that tell its place in the stream. */
  | ({ readonly type: "partial_image" } & Omit<
      PartialImage,
      "type" | "item_id" | "output_index" | "sequence_number" | "stream_id"
    >)
  /** What the running command of a `shell_call_output` printed since the last step. */
  | { readonly type: "command_printed"; readonly stdout: string; readonly stderr: string }
  /** The running command has ended; the next one begins. */
  | { readonly type: "command_ended"; readonly output: ShellCommandOutput };

/** What the tool loop tells a run about an item of a hosted tool. Strictly sequential, like all model events. */
export type HostedItemEvent =
  /** The first form of the item, with its id. */
  | { readonly type: "item_started"; readonly item: HostedItem }
  /**
   * A piece of what the open item shows as it is written: arguments, code, a diff, the next command. Optional: what
   * was not shown so is shown before the item ends.
   */
  | { readonly type: "item_delta"; readonly text: string }
  /** The text of the deltas is whole. Of a `shell_call` that of one command; another delta begins the next one. */
  | { readonly type: "item_written" }
  | { readonly type: "item_step"; readonly step: ToolStep }
  /** The last form of the open item. Its `status`, where it has one, or its `error` says how it ended. */
  | { readonly type: "item_finished"; readonly item: HostedItem };
