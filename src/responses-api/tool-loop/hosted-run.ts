import { randomHex } from "@antiphon/base/ids.ts";
import type { OutputItem, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import {
  type ToolCall,
  type ToolKind,
  type ToolNotOpened,
  type ToolOutcome,
  UNKNOWN_EFFECT,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedCall, HostedItem, HostedOutput } from "@antiphon/domain/models/hosted.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { BegunExchange, FinishedExchange } from "@antiphon/domain/tool-ledger.ts";
import type { ToolCallEnd } from "@antiphon/domain/tool-watch.ts";
import { cutForm, isUnfinishedCall } from "../../runs/index.ts";
import type { LinePlace } from "./call-line.ts";
import type { ShownArguments } from "./shown-arguments.ts";

const CALL_ID_DIGITS = 24;

/** A call of a hosted function that the model is writing or has written. */
export interface MadeRun {
  readonly called: CalledFunction;
  readonly callId: string;
  /** The place of its events. */
  readonly place: LinePlace;
  /** Null if it is not run; `refusal` then explains why to the model. */
  readonly call: ToolCall | null;
  readonly refusal: string | null;
  /** Its shown arguments. */
  readonly view: ShownArguments;
  readonly approvalRequestId: string | null;
  /** As in `BegunExchange`. */
  readonly turn: number;
}

/** The function of a call. */
export interface CalledFunction {
  readonly name: string;
  readonly server: string | null;
  /** Null if this server has no such tool. */
  readonly kind: ToolKind | null;
  /** Whether equal calls are counted. Programs decide by themselves whether they make a call again. */
  readonly isCounted: boolean;
}

/** `entry`: null if this server has no such tool. */
export function calledFunction(
  names: Pick<CalledFunction, "name" | "server">,
  entry: { readonly kind: ToolKind } | null,
  isByProgram = false,
): CalledFunction {
  const kind = entry?.kind ?? null;
  return { ...names, kind, isCounted: !isByProgram && kind !== "programmatic_tool_calling" };
}

/** How a call came out. */
export interface CallResult {
  /** The output for the model; null if the client must answer, or if the call was cut. */
  readonly output: HostedOutput | null;
  /** Whether the client must answer before the model can continue. */
  readonly asks: boolean;
  /** The last form of the item, if the call ran. */
  readonly item: HostedItem | null;
}

/** The events that end the item of a call, and events of the items that follow. */
export function endingEvents(
  { view }: Pick<MadeRun, "view">,
  outcome: Exclude<ToolOutcome, { type: "unknown" }>,
): readonly ModelEvent[] {
  const end = (first: HostedItem, last: HostedItem): readonly ModelEvent[] =>
    view.item === null ? wholeItem(first, last) : [{ type: "item_finished", item: last }];
  switch (outcome.type) {
    case "told":
      return view.item === null ? [] : [{ type: "item_finished", item: brokenForm(view.item) }];
    case "asks":
      return end(outcome.first, outcome.item);
    case "goes_on":
      return end(withoutCode(outcome.item), outcome.item);
    case "ran":
      return [
        ...end(outcome.item, outcome.item),
        ...(outcome.following ?? []).flatMap(({ first, last }) => wholeItem(first, last)),
      ];
  }
}

/** As in the reference, a program begins without its code. */
function withoutCode(item: HostedItem): HostedItem {
  return item.type === "program" ? { ...item, code: "", fingerprint: "" } : item;
}

/** An item that begins and ends at once. */
export function wholeItem(first: HostedItem, last: HostedItem): readonly ModelEvent[] {
  return [
    { type: "item_started", item: first },
    { type: "item_finished", item: last },
  ];
}

/** For metrics. */
export function toolCallEnd(outcome: ToolOutcome): ToolCallEnd {
  if (outcome.type === "told") return "told";
  if (outcome.type === "asks") return "asked";
  if (outcome.type === "unknown") return "unknown";
  const { item } = outcome;
  if (!("status" in item)) return "completed";
  return item.status === "failed" || item.status === "incomplete" ? item.status : "completed";
}

/** The last form of a failed call's item without one of its own. `reason`: for a call of an MCP server. */
export function brokenForm(item: HostedItem, reason = "The call could not be made."): HostedItem {
  switch (item.type) {
    case "web_search_call":
    case "file_search_call":
    case "code_interpreter_call":
    case "image_generation_call":
      return { ...item, status: "failed" };
    case "mcp_call":
      return {
        ...item,
        status: "failed",
        error: { type: "mcp_protocol_error", code: INTERNAL_ERROR, message: reason },
      };
    case "mcp_list_tools":
    case "mcp_approval_request":
    case "apply_patch_call":
    case "program":
      return item;
    default:
      return { ...item, status: "incomplete" };
  }
}

/** The end of a call that may have taken effect and is not repeated. `open`: its item, still open. */
export function unknownResult(open: HostedItem, args: string): FinishedExchange {
  const item = brokenForm(withArguments(open, args), "interrupted; whether it took effect is unknown");
  return { itemId: open.id, item, output: UNKNOWN_EFFECT, parts: [], usage: null, outcome: "unknown" };
}

/** The end of a call without effects that a crash interrupted and that cannot be repeated. */
export function notRepeatedResult(open: HostedItem, args: string): FinishedExchange {
  const reason = "The call was interrupted, and was not repeated.";
  const item = brokenForm(withArguments(open, args), reason);
  return { itemId: open.id, item, output: reason, parts: [], usage: null, outcome: "finished" };
}

function withArguments(item: HostedItem, args: string): HostedItem {
  return item.type === "mcp_call" ? { ...item, arguments: args } : item;
}

const CLIENTS_TYPES: ReadonlySet<OutputItem["type"]> = new Set([
  "function_call",
  "custom_tool_call",
  "mcp_approval_request",
  "computer_call",
  "local_shell_call",
  "apply_patch_call",
]);

/** Whether the item waits for the client, so that the response ends after its turn. */
export function isClientsTurn(item: OutputItem): boolean {
  if (isUnfinishedCall(item) || isCutCall(item)) return false;
  if (item.type === "tool_search_call") return item.execution === "client";
  if (item.type === "shell_call") return item.environment?.type !== "container_reference";
  return CLIENTS_TYPES.has(item.type);
}

/** Whether the model broke off within a client call. */
function isCutCall(item: OutputItem): boolean {
  const isCall = item.type === "function_call" || item.type === "custom_tool_call" || item.type === "tool_search_call";
  return isCall && item.status === "incomplete";
}

/** JSON-RPC's code for an internal error of a server. */
const INTERNAL_ERROR = -32_603;

/** The same item for another call. */
function copiedItem(item: HostedItem, of: HostedItem, callId: string): HostedItem {
  const callIdField = "call_id" in item && typeof item.call_id === "string" ? { call_id: callId } : {};
  return { ...item, id: of.id, ...callIdField };
}

export function hostedCall({ callId, called: { name, server } }: MadeRun, args: string): HostedCall {
  return { type: "hosted_call", callId, name, server, arguments: args };
}

export function outputOf({ callId }: MadeRun, output: string, parts: HostedOutput["parts"] = []): HostedOutput {
  return { type: "hosted_output", callId, output, parts };
}

/** The result of a call that was made too often: the first result again. */
export function repeatOf(job: MadeRun, first: CallResult): CallResult {
  const text = first.output?.output ?? "";
  const output = outputOf(job, `${text}\nYou made this call before, and the answer is still this one.`);
  const { item } = job.view;
  if (item === null) return { output, asks: false, item: null };
  // The client need not run a call again, and the outputs of commands are not shown again.
  const isOver = first.item === null || first.asks || first.item.type === "shell_call";
  const last = isOver ? brokenForm(item) : copiedItem(first.item, item, job.callId);
  job.place.add({ type: "item_finished", item: last });
  return { output, asks: false, item: last };
}

/** Shows the tool that could not be opened, and fails. */
export async function* failingTurn(error: ToolNotOpened): AsyncGenerator<readonly ModelEvent[]> {
  yield wholeItem(error.opening.first, error.opening.last);
  throw error;
}

/** The server of a list of tools. */
export function labelOf(item: OutputItem | StoredItem): string | null {
  return item.type === "mcp_list_tools" ? item.server_label : null;
}

/** The result of a call that was cut. */
export const CUT: CallResult = { output: null, asks: false, item: null };

/** Ends the item of a call that is not run. */
export function endUnrun({ view, place }: MadeRun): CallResult {
  if (view.item !== null) place.add({ type: "item_finished", item: cutForm(view.item) });
  place.close();
  return CUT;
}

/** The stored form of a call that has begun. */
export function exchangeOf(
  job: MadeRun,
  { effect }: ToolCall,
  args: string,
  state: Pick<BegunExchange, "itemId" | "attempts">,
): BegunExchange {
  const { callId, called, approvalRequestId, turn } = job;
  const { name, server } = called;
  return { ...state, callId, name, server, arguments: args, effect, approvalRequestId, turn };
}

/** The id that outputs use for the call; null for items that are not calls. */
export function outputKeyOf(item: ContextItem | StoredItem): string | null {
  if (item.type === "hosted_call") return item.callId;
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}

/** Another response was faster. */
export function spentElsewhere(approvalRequestId: string): ModelError {
  return new ModelError(`Approval request '${approvalRequestId}' was used already.`, {
    status: 400,
    type: "invalid_request_error",
    code: "approval_spent",
    param: "input",
  });
}

/** The ids of the calls in a response and in its context. Model servers may restart their numbers in each turn. */
export class FreeCallIds {
  readonly #callIds = new Set<string>();

  /** Null for an item without such an id. */
  add(callIds: readonly (string | null)[]): void {
    for (const callId of callIds) if (callId !== null) this.#callIds.add(callId);
  }

  /** The given id if it is free, otherwise a new one. */
  take(id: string | null): string {
    const isFree = id !== null && id !== "" && !this.#callIds.has(id);
    const callId = isFree ? id : `call_${randomHex(CALL_ID_DIGITS)}`;
    this.#callIds.add(callId);
    return callId;
  }
}
