import type { ShortResult } from "@antiphon/base/limits/cut-result.ts";
import type { StoredItem, Tool, ToolInput, ToolOutputContentPart } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedFunction, HostedItem, HostedItemEvent, ToolStep } from "./models/hosted.ts";
import type { ModelAbilities } from "./models/model-engine.ts";
import { ModelError } from "./models/model-error.ts";
import type { Owner } from "./owner.ts";
import type { ProgramRuntime } from "./programs.ts";

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
  | "tool_search"
  | "programmatic_tool_calling";

/** One kind of tool that this server runs. It knows its wire items and nothing about models. */
export interface HostedTool {
  readonly kind: ToolKind;
  /** The types of `tools[]` that it implements. */
  readonly types: readonly ToolInput["type"][];
  /** Checks whether the tool can be used as requested. Returns the reason why not, or null. Does no I/O. */
  refusal(tool: ToolInput, user: ToolUser): ToolRefusal | null;
  /**
   * What a tool that can be used lacks, as a whole sentence; null or absent for nothing. A request that forces the tool
   * is refused for it.
   */
  shortfall?(tool: ToolInput): string | null;
  /**
   * Fills in the operator's defaults for members that the request leaves out. Call it only for tools that were not
   * refused.
   */
  withDefaults?(tool: ToolInput, user: ToolUser): ToolInput;
  /**
   * Prepares the tool for one response: may list functions, connect, or create a container. Rejects with `ModelError`
   * if the response cannot be made without it. Aborting the signal in `scope` stops it.
   */
  open(tool: ToolInput, scope: ToolScope): Promise<OpenTool>;
  /** Closes resources that outlive a response, such as connections. Called once, at shutdown. */
  close?(): Promise<void>;
}

/** A whole sentence for the client that says what is missing and what would help. */
export interface ToolRefusal {
  readonly reason: string;
  /** The tool's member at fault; null if the tool cannot be used at all. */
  readonly member: string | null;
  /**
   * `unavailable`: the tool may be left out unless the request depends on it. `needed`: the request configures the
   * tool, such as an MCP server, so leaving it out is wrong. `invalid`: the request is wrong.
   */
  readonly grade: "unavailable" | "needed" | "invalid";
}

/** The user of a tool. */
export interface ToolUser {
  readonly owner: Owner;
  /** The input that the model can read. */
  readonly abilities: ModelAbilities;
}

/** What a tool knows about the response that it serves. */
export interface ToolScope extends ToolUser {
  readonly responseId: string;
  /** The id of the conversation of the response, else of the response before it; null if it begins a chain. */
  readonly continuedId: string | null;
  readonly include: readonly string[];
  /** The context of the response, oldest first. */
  readonly context: readonly StoredItem[];
  /** The highest number of a `Citable` that the model saw before a crash; 0 if there was none. */
  readonly citedBefore?: number;
  /** Calls that this request approves and that have not run. */
  readonly approvals: readonly ApprovedCall[];
  /** Client and MCP tools that are hidden from the model until a tool search finds them. */
  readonly laterTools: readonly Tool[];
  /** Whether another tool of the response reads private data: files, an MCP server, a container with files. */
  readonly readsPrivately: boolean;
  /** Aborts when the response ends or is cancelled. */
  readonly signal: AbortSignal;
  /** Returns a new item id of this response, such as `mcp_…`. Ids are counted, so a restarted run gets the same ids. */
  newItemId(prefix: string): string;
}

/** The name of an approval request that is a question of an MCP server to the user: the method of the protocol. */
export const ELICITATION = "elicitation/create";

/** What a person answered to an approval request. */
export interface UserAnswer {
  readonly approve: boolean;
  readonly reason: string | null;
}

/** A call of an MCP server that a person approved, with its arguments, or an answered question of such a server. */
export interface ApprovedCall {
  /** The id of the `mcp_approval_request`. */
  readonly requestId: string;
  readonly serverLabel: string;
  /** The name of the tool, or `ELICITATION`. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  /** A refusal only for a question. */
  readonly answer: UserAnswer;
  /** Whether a stored response of this server requested approval for this call with these arguments. */
  readonly isAskedHere: boolean;
}

/** A tool that is ready for one response. */
export interface OpenTool {
  /**
   * In a stable order and with stable JSON, because prompt caches of model servers depend on it. Another array if a
   * call has changed them.
   */
  readonly functions: readonly HostedFunction[];
  /** Text added to the instructions; null if there is none. */
  readonly note: string | null;
  /** What the server of its functions says about their use. Absent or null if there is none, or if it says nothing. */
  readonly guide?: ServerGuide | null;
  /** Items at the beginning of the stream, such as `mcp_list_tools`, in their first and last form. */
  readonly opening: readonly OpeningItem[];
  /** Calls that run before the first turn of the model, such as approved calls. */
  readonly pending: readonly PendingCall[];
  /** What can be cited before any call, such as the files of a reused container. */
  readonly sources?: readonly Citable[];
  /** Runs the programs that calls of its function begin. Absent for tools that begin none. */
  readonly programs?: ProgramRuntime;
  /** Starts a call of one of `functions`. Does no I/O. */
  call(name: string, origin: MadeCall): ToolCall;
  /**
   * Shortens the output of a call to at most `charactersMax` characters, which may be 0. Absent if the output can be
   * cut at any place.
   */
  shorten?(call: ToldCall, charactersMax: number): ShortResult;
  /**
   * What is there after a crash interrupted the call of this item, such as the files of its container, as sentences for
   * the model. Absent if calls of the tool leave nothing here.
   */
  describeRemains?(item: HostedItem): Promise<string>;
  close(): Promise<void>;
}

/** What another server says about the use of its functions. Outside text. */
export interface ServerGuide {
  /** The label of the server. */
  readonly server: string;
  readonly text: string;
  /** Unknown to the server, and the same in each turn. The marks around the text are made from it. */
  readonly secret: string;
}

/** A call that has run, and its output for the model. */
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

/** A tool could not be opened. `opening` shows the failure in a response that has already begun. */
export class ToolNotOpened extends ModelError {
  readonly opening: OpeningItem;

  constructor(refusal: ModelError, opening: OpeningItem) {
    const { status, type, code, param, cause } = refusal;
    super(refusal.message, { status, type, code, param, cause });
    this.opening = opening;
  }
}

/** A call by the model. Its arguments may still be arriving. */
export interface MadeCall {
  readonly callId: string;
  readonly newItemId: ToolScope["newItemId"];
  /** The approval with which the call started before a crash; absent for a new call. */
  readonly approvalRequestId?: string | null;
  /** Whether a program of the model calls. It cannot wait for the user. */
  readonly isByProgram?: boolean;
}

/** A call whose arguments are known before the first turn of the model. */
export interface PendingCall {
  readonly name: string;
  readonly callId: string;
  readonly arguments: string;
  readonly approvalRequestId: string | null;
  readonly call: ToolCall;
}

export interface ToolCall {
  /** The first form of its item; null if the item begins later, as for approvals and client calls. */
  readonly item: HostedItem | null;
  /**
   * How the arguments are streamed: as a whole, as the decoded string of one member, through a writer, or not at all.
   */
  readonly streams: "arguments" | { readonly member: string } | CallWriter | null;
  /**
   * The possible effect of running the call twice. `none`: nothing. `sandboxed`: changes one of our sessions.
   * `idempotent`: changes the world once, however often it runs with the same key. `may_have`: changes the world, so it
   * is never repeated silently.
   */
  readonly effect: CallEffect;
  /**
   * Runs the call. Failures outside the server, wrong arguments included, are outcomes with a sentence for the model.
   * An exception means a bug in this server. Ends early when `signal` aborts.
   */
  run(args: string, signal: AbortSignal): AsyncGenerator<ToolStep, ToolOutcome>;
}

export type CallEffect = "none" | "sandboxed" | "idempotent" | "may_have";

/** Whether a call may have changed something outside this server. */
export function mayChangeWorld(effect: CallEffect): boolean {
  return effect === "may_have" || effect === "idempotent";
}

/** Whether a call whose outcome is unknown may run again. */
export function mayRunAgain(effect: CallEffect): boolean {
  return effect === "none" || effect === "idempotent";
}

/** Shows the item of a call while its arguments arrive. */
export interface CallWriter {
  /** Returns the events for the next piece of the arguments. The first event begins the item. */
  add(piece: string): readonly HostedItemEvent[];
}

export type ToolOutcome =
  /** The last form of its item, the output for the model, and what the model may cite. */
  | {
      readonly type: "ran";
      readonly item: HostedItem;
      readonly output: string;
      readonly parts: readonly ToolOutputContentPart[];
      readonly sources: readonly Citable[];
      /** Items that follow, such as the output of a shell call, in their first and last form. */
      readonly following?: readonly OpeningItem[];
      /** Whether one of these items asks the client, so that the response ends after this turn. */
      readonly asks?: boolean;
      /** Functions that can be called from now on, such as results of a tool search. */
      readonly foundTools?: readonly Tool[];
      readonly usage?: ToolUsage;
      /** Whether the tool certainly did nothing: the call was not sent, or was refused before the tool acted. */
      readonly hasNotActed?: boolean;
    }
  /**
   * The item requests something from the client; it ends the response after this turn. `first` is ignored if the item
   * has begun.
   */
  | { readonly type: "asks"; readonly first: HostedItem; readonly item: HostedItem }
  /** The call has begun a program, which goes on in turns of its own and has its output later. */
  | { readonly type: "goes_on"; readonly item: HostedItem }
  /** The arguments are wrong, and the output tells the model why. An item that has begun is ended. */
  | { readonly type: "told"; readonly output: string }
  /** A call with possible effects was interrupted after it was sent: it may have taken effect. */
  | { readonly type: "unknown" };

/** Sent to the model for a call that may have taken effect, after a crash or a broken connection interrupted it. */
export const UNKNOWN_EFFECT =
  "The call was interrupted, and whether it took effect is unknown. It was not repeated. Ask the user before you repeat it.";

/** Added to the `tool_usage` of the response. */
export interface ToolUsage {
  readonly webSearches?: number;
  readonly imageInputTokens?: { readonly text: number; readonly image: number };
  readonly imageOutputTokens?: { readonly text: number; readonly image: number };
}

/** A source that a text may cite. The model gets its number, such as `web:3`, which is unique in the response. */
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
  /** The item of the call that output this picture; the following text cites it as a whole. Null for other files. */
  readonly shownBy: string | null;
}

/** The container in which a call ran; null for other items. */
export function containerOf(item: StoredItem): string | null {
  if (item.type === "code_interpreter_call") return item.container_id;
  if (item.type !== "shell_call" || item.environment?.type !== "container_reference") return null;
  return item.environment.container_id;
}
