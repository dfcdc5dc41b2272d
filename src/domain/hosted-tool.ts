import type { StoredItem, Tool, ToolInput, ToolOutputContentPart } from "../../generated/responses-api/types.ts";
import type { ShortResult } from "../base/limits/cut-result.ts";
import type { HostedFunction, HostedItem, HostedItemEvent, ToolStep } from "../runs/hosted.ts";
import type { ModelAbilities } from "../runs/ports/model-engine.ts";
import { ModelError } from "../runs/ports/model-error.ts";
import type { Owner } from "../runs/ports/owner.ts";

/** The names of tool kinds in the setting `TOOLS`, in keys and in metrics. */
export type ToolKind =
  | "web_search"
  | "file_search"
  | "code_interpreter"
  | "computer"
  | "mcp"
  | "image_generation"
  | "shell"
  | "local_shell"
  | "apply_patch"
  | "tool_search";

/** One kind of tool that this server offers. It knows its wire items, and nothing of models. */
export interface HostedTool {
  readonly kind: ToolKind;
  /** The types of `tools[]` that it serves. */
  readonly types: readonly ToolInput["type"][];
  /**
   * Why this tool cannot be had as it was asked for; null if it can. Does no I/O.
   */
  refusal(tool: ToolInput, user: ToolUser): ToolRefusal | null;
  /** The tool with the operator's defaults for members that the request leaves out. It was not refused. */
  withDefaults?(tool: ToolInput, user: ToolUser): ToolInput;
  /**
   * Prepares the tool for one response: may list, connect, or make a container. Rejects with `ModelError` if the
   * response cannot be made without it. The signal in `scope` stops it.
   */
  open(tool: ToolInput, scope: ToolScope): Promise<OpenTool>;
  /** Closes what outlives a response, such as connections. Called once, at the end. */
  close?(): Promise<void>;
}

/** A whole sentence for the client that says what is missing and what would help. */
export interface ToolRefusal {
  readonly reason: string;
  /** The member of the tool that is at fault; null if the tool cannot be had at all. */
  readonly member: string | null;
  /**
   * `unavailable`: the tool may be left out of the request unless the request depends on it. `needed`: the tool holds
   * what only it could honour, such as an MCP server. `invalid`: the request is wrong.
   */
  readonly grade: "unavailable" | "needed" | "invalid";
}

/** For whom a tool works. */
export interface ToolUser {
  readonly owner: Owner;
  /** What the model can be shown. */
  readonly abilities: ModelAbilities;
}

/** What a tool may know of the response that it serves. */
export interface ToolScope extends ToolUser {
  readonly responseId: string;
  readonly include: readonly string[];
  /** The context of the response, oldest first. */
  readonly context: readonly StoredItem[];
  /** The highest number of a `Citable` that the model was told before a crash; 0 if there was none. */
  readonly citedBefore?: number;
  /** The calls that the client approved with this request, and that have not run. */
  readonly approvals: readonly ApprovedCall[];
  /** Tools of the client and MCP servers that the model is not offered until a tool search finds them. */
  readonly deferred: readonly Tool[];
  /** Whether another tool of the response reads private things: files, an MCP server, a container with files. */
  readonly readsPrivately: boolean;
  /** Aborts when the response ends or is cancelled. */
  readonly signal: AbortSignal;
  /** A new item id of this response, such as `mcp_…`. Counts, so a restarted run makes the same ids again. */
  newItemId(prefix: string): string;
}

/** A call of an MCP server that a person approved, as it was asked for. */
export interface ApprovedCall {
  /** The id of the `mcp_approval_request`. */
  readonly requestId: string;
  readonly serverLabel: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** Whether a stored response of this server has asked for this call, with these arguments. */
  readonly isAskedHere: boolean;
}

/** A tool that is ready for one response. */
export interface OpenTool {
  /** In a stable order and with stable JSON, since the prompt caches of model servers depend on it. */
  readonly functions: readonly HostedFunction[];
  /** Added to the instructions; null if there is nothing to say. */
  readonly note: string | null;
  /** Items that come first in the stream, such as `mcp_list_tools`, in their first and last form. */
  readonly opening: readonly OpeningItem[];
  /** Calls that run before the model is asked, such as approved ones. */
  readonly pending: readonly PendingCall[];
  /** What can be cited before any call, such as the files of a container that is used again. */
  readonly sources?: readonly Citable[];
  /** Begins a call of one of `functions`. Does no I/O. */
  call(name: string, made: MadeCall): ToolCall;
  /**
   * Shortens what such a call told to at most `charactersMax` characters, which may be 0. Left out where any place for
   * a cut is as good as another.
   */
  shorten?(call: ToldCall, charactersMax: number): ShortResult;
  close(): Promise<void>;
}

/** A call that has run, and what the model was told. */
export interface ToldCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  readonly text: string;
}

export interface OpeningItem {
  readonly first: HostedItem;
  readonly last: HostedItem;
}

/** A tool could not be opened. `opening` shows that where the response has begun already. */
export class ToolNotOpened extends ModelError {
  readonly opening: OpeningItem;

  constructor(refusal: ModelError, opening: OpeningItem) {
    const { status, type, code, param, cause } = refusal;
    super(refusal.message, { status, type, code, param, cause });
    this.opening = opening;
  }
}

/** A call as the model made it. Its arguments may still be arriving. */
export interface MadeCall {
  readonly callId: string;
  readonly newItemId: ToolScope["newItemId"];
  /** The approval with which the call began before a crash; absent for a new call. */
  readonly approvalRequestId?: string | null;
}

/** A call whose arguments are known before the model is asked. */
export interface PendingCall {
  readonly name: string;
  readonly callId: string;
  readonly arguments: string;
  readonly approvalRequestId: string | null;
  readonly call: ToolCall;
}

export interface ToolCall {
  /** The first form of its item; null if the item begins later, as those of approvals and of the client's calls do. */
  readonly item: HostedItem | null;
  /**
   * What of the arguments is streamed: all of it, the decoded string of one member, what a writer makes of it, or
   * nothing.
   */
  readonly streams: "arguments" | { readonly member: string } | CallWriter | null;
  /**
   * What a second run of the call could do. `none`: nothing. `sandboxed`: change a session of ours. `may_have`: change
   * the world, so that it never runs twice in silence.
   */
  readonly effect: "none" | "sandboxed" | "may_have";
  /**
   * Runs the call. Faults of the world, wrong arguments included, are outcomes with a sentence for the model. A throw
   * is a fault of this server. Ends early when `signal` aborts.
   */
  run(args: string, signal: AbortSignal): AsyncGenerator<ToolStep, ToolOutcome>;
}

/** Shows the item of a call while its arguments arrive. */
export interface CallWriter {
  /** What a piece of the arguments adds to what is shown. The first event begins the item. */
  add(piece: string): readonly HostedItemEvent[];
}

export type ToolOutcome =
  /** The last form of its item, what the model is shown, and what it may cite. */
  | {
      readonly type: "ran";
      readonly item: HostedItem;
      readonly output: string;
      readonly parts: readonly ToolOutputContentPart[];
      readonly sources: readonly Citable[];
      /** Items that follow, such as the output of a shell call, in their first and last form. */
      readonly following?: readonly OpeningItem[];
      /** Functions that can be called from now on, as a tool search finds them. */
      readonly found?: readonly Tool[];
      readonly usage?: ToolUsage;
    }
  /** The item asks the client for something; it ends the response after this turn. `first` is not used if it began. */
  | { readonly type: "asks"; readonly first: HostedItem; readonly item: HostedItem }
  /** The arguments are wrong, and the model is told why. An item that had begun ends as it can. */
  | { readonly type: "told"; readonly output: string }
  /** A call that may have effects was interrupted after it was sent: it may have taken effect. */
  | { readonly type: "unknown" };

/** Shown to the model for a call that may have taken effect, whether a crash or a broken connection interrupted it. */
export const UNKNOWN_EFFECT =
  "The call was interrupted, and whether it took effect is unknown. It was not repeated. Ask the user before you repeat it.";

/** Added to the `tool_usage` of the response. */
export interface ToolUsage {
  readonly webSearches?: number;
  readonly imageInputTokens?: { readonly text: number; readonly image: number };
  readonly imageOutputTokens?: { readonly text: number; readonly image: number };
}

/** What a text may cite. A number is unique in its response and is told to the model, such as `web:3`. */
export type Citable =
  | { readonly type: "web"; readonly number: number; readonly url: string; readonly title: string }
  | { readonly type: "file"; readonly number: number; readonly fileId: string; readonly filename: string }
  | CitedFile;

/** A file of a container. A text cites it by a Markdown link to `sandbox:` and its path. */
export interface CitedFile {
  readonly type: "container_file";
  readonly containerId: string;
  readonly fileId: string;
  /** Such as `/mnt/data/chart.png`. */
  readonly path: string;
  /** The item of the call that showed this picture; the text that follows cites it as a whole. Null for other files. */
  readonly shownBy: string | null;
}

/** The container in which a call ran; null for other items. */
export function containerOf(item: StoredItem): string | null {
  if (item.type === "code_interpreter_call") return item.container_id;
  if (item.type !== "shell_call" || item.environment?.type !== "container_reference") return null;
  return item.environment.container_id;
}
