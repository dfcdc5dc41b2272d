import type {
  OutputItem,
  ResponseStreamEvent,
  ShellCommandOutput,
  ToolOutputContentPart,
} from "@antiphon/contracts/responses-api/types.ts";

/** A function that this server runs. An adapter offers it to the model under a free name. */
export interface HostedFunction {
  readonly type: "hosted_function";
  readonly name: string;
  /** The label of the MCP server it belongs to; null for the tools of this server. */
  readonly server: string | null;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Forces a call of a hosted function. Entries of `allowed_tools` for hosted functions have the same members. */
export interface HostedFunctionChoice {
  readonly type: "hosted_function";
  readonly name: string;
  readonly server: string | null;
}

/** In a context: a call of a hosted function, exactly as the model made it. */
export interface HostedCall {
  readonly type: "hosted_call";
  readonly callId: string;
  readonly name: string;
  readonly server: string | null;
  /** JSON text. */
  readonly arguments: string;
}

/** In a context: the model's view of the call's result. Images are parts; `output` is the rest. */
export interface HostedOutput {
  readonly type: "hosted_output";
  readonly callId: string;
  readonly output: string;
  readonly parts: readonly ToolOutputContentPart[];
}

/** The item types of hosted tools. */
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
      | "tool_search_output"
      | "program"
      | "program_output";
  }
>;

type PartialImage = Extract<ResponseStreamEvent, { type: "response.image_generation_call.partial_image" }>;

/** A step of a running tool. Each is one wire event. */
export type ToolStep =
  | { readonly type: "searching" }
  | { readonly type: "interpreting" }
  | { readonly type: "generating" }
  /** Without the members for its place in the stream. */
  | ({ readonly type: "partial_image" } & Omit<
      PartialImage,
      "type" | "item_id" | "output_index" | "sequence_number" | "stream_id"
    >)
  /** The output of the running command since the last step. */
  | { readonly type: "command_printed"; readonly stdout: string; readonly stderr: string }
  /** The running command has ended, and the next one begins. */
  | { readonly type: "command_ended"; readonly output: ShellCommandOutput };

/** An event from the tool loop about a hosted item. Strictly sequential, like all model events. */
export type HostedItemEvent =
  /** The first form of the item, with its id. */
  | { readonly type: "item_started"; readonly item: HostedItem }
  /**
   * A piece of the open item's text while it is written: arguments, code, a diff, the next command. Optional: the
   * missing rest is shown before the item ends.
   */
  | { readonly type: "item_delta"; readonly text: string }
  /**
   * The text of the deltas is complete. In a `shell_call`, this ends one command, and another delta begins the next.
   */
  | { readonly type: "item_written" }
  | { readonly type: "item_step"; readonly step: ToolStep }
  /** The last form of the open item. Its `status`, if it has one, or its `error` says how it ended. */
  | { readonly type: "item_finished"; readonly item: HostedItem };
