import type { OutputItem, StoredItem } from "../../../generated/responses-api/types.ts";
import { cutForm } from "../../runs/index.ts";
import type { HostedCall, HostedItem, HostedOutput, ModelEvent } from "../../runs/ports.ts";
import type { ToolCall, ToolKind, ToolNotOpened, ToolOutcome } from "../hosted-tool.ts";
import type { ToolCallEnd } from "../ports.ts";
import type { LinePlace } from "./call-line.ts";
import { MemberReader } from "./member-reader.ts";

/** A call of a hosted function that the model is writing or has written. */
export interface MadeRun {
  readonly kind: ToolKind | null;
  readonly name: string;
  readonly server: string | null;
  readonly callId: string;
  /** Where its events go. */
  readonly place: LinePlace;
  /** Null if it is not run; `refusal` then tells the model why. */
  readonly call: ToolCall | null;
  readonly refusal: string | null;
  readonly approvalRequestId: string | null;
  /** As in `BegunExchange`. */
  readonly turn: number;
}

/** How a call came out. */
export interface CallResult {
  /** What the model is shown; null if the client is asked, or if the call was cut off. */
  readonly output: HostedOutput | null;
  /** Whether the client has to answer before the model can go on. */
  readonly asks: boolean;
  /** The last form of the item, if the call ran. */
  readonly item: HostedItem | null;
}

/** How a call came out that is not run, and that the model does not hear of. */
export const CUT: CallResult = { output: null, asks: false, item: null };

/** Ends the item of a call that is not run. */
export function endUnrun({ call, place }: MadeRun): CallResult {
  if (call !== null && call.item !== null) place.add({ type: "item_finished", item: cutForm(call.item) });
  place.close();
  return CUT;
}

/** Shows what an item shows of its arguments while they arrive. */
export class ShownArguments {
  readonly #call: ToolCall | null;
  readonly #place: LinePlace;
  readonly #member: MemberReader | null;
  #text = "";

  constructor({ call, place }: Pick<MadeRun, "call" | "place">) {
    this.#call = call?.item == null || call.streams === null ? null : call;
    this.#place = place;
    const { streams = null } = this.#call ?? {};
    this.#member = streams === null || streams === "arguments" ? null : new MemberReader(streams.member);
  }

  get text(): string {
    return this.#text;
  }

  add(piece: string): void {
    this.#text += piece;
    if (this.#call === null) return;
    const shown = this.#member === null ? piece : this.#member.add(piece);
    if (shown !== "") this.#place.add({ type: "item_delta", text: shown });
  }

  /** The arguments are whole. Models often write none at all for a function without parameters. */
  end(): string {
    const isEmpty = this.#text.trim() === "";
    if (isEmpty) this.add("{}");
    if (this.#call !== null) this.#place.add({ type: "item_written" });
    return isEmpty ? "{}" : this.#text;
  }
}

/** The events that end the item of a call, and those that show what follows it. */
export function endingEvents(call: ToolCall, outcome: ToolOutcome): readonly ModelEvent[] {
  switch (outcome.type) {
    case "told":
      return call.item === null ? [] : [{ type: "item_finished", item: brokenForm(call.item) }];
    case "asks":
      return wholeItem(outcome.first, outcome.item);
    case "ran":
      return [
        ...(call.item === null
          ? wholeItem(outcome.item, outcome.item)
          : [{ type: "item_finished" as const, item: outcome.item }]),
        ...(outcome.following ?? []).flatMap(({ first, last }) => wholeItem(first, last)),
      ];
  }
}

/** An item that is begun and ended at once. */
export function wholeItem(first: HostedItem, last: HostedItem): readonly ModelEvent[] {
  return [
    { type: "item_started", item: first },
    { type: "item_finished", item: last },
  ];
}

/** For metrics. */
export function endOf(outcome: ToolOutcome): ToolCallEnd {
  if (outcome.type === "told") return "told";
  if (outcome.type === "asks") return "asked";
  const { item } = outcome;
  if (!("status" in item)) return "completed";
  return item.status === "failed" || item.status === "incomplete" ? item.status : "completed";
}

/** The last form of an item whose call failed without one of its own. */
export function brokenForm(item: HostedItem): HostedItem {
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
        error: { type: "mcp_protocol_error", code: INTERNAL_ERROR, message: "The call could not be made." },
      };
    case "mcp_list_tools":
    case "mcp_approval_request":
    case "apply_patch_call":
      return item;
    default:
      return { ...item, status: "incomplete" };
  }
}

/** The last form of an item whose call a crash interrupted, and that is not run again. */
export function interruptedForm(item: HostedItem, args: string): HostedItem {
  if (item.type !== "mcp_call") return brokenForm(item);
  const message = "interrupted; whether it took effect is unknown";
  return {
    ...item,
    arguments: args,
    status: "failed",
    error: { type: "mcp_protocol_error", code: INTERNAL_ERROR, message },
  };
}

const CLIENTS_TYPES: ReadonlySet<OutputItem["type"]> = new Set([
  "function_call",
  "custom_tool_call",
  "mcp_approval_request",
  "computer_call",
  "local_shell_call",
  "apply_patch_call",
]);

/** Whether the item waits for the client, so that the response ends after the turn that made it. */
export function isClientsTurn(item: OutputItem): boolean {
  if (item.type === "tool_search_call") return item.execution === "client";
  if (item.type === "shell_call") return item.environment?.type !== "container_reference";
  return CLIENTS_TYPES.has(item.type);
}

/** The code of JSON-RPC for a fault within a server. */
const INTERNAL_ERROR = -32_603;

/** The same item for another call. */
function copiedItem(item: HostedItem, of: HostedItem, callId: string): HostedItem {
  const named = "call_id" in item && typeof item.call_id === "string" ? { call_id: callId } : {};
  return { ...item, id: of.id, ...named };
}

export function callOf({ callId, name, server }: MadeRun, args: string): HostedCall {
  return { type: "hosted_call", callId, name, server, arguments: args };
}

export function outputOf({ callId }: MadeRun, output: string, parts: HostedOutput["parts"] = []): HostedOutput {
  return { type: "hosted_output", callId, output, parts };
}

/** The result of a call that was made too often: the first result again. */
export function repeatOf(made: MadeRun, call: ToolCall, first: CallResult): CallResult {
  const said = first.output?.output ?? "";
  const output = outputOf(made, `${said}\nYou made this call before, and the answer is still this one.`);
  if (call.item === null) return { output, asks: false, item: null };
  const last = first.item === null ? brokenForm(call.item) : copiedItem(first.item, call.item, made.callId);
  made.place.add({ type: "item_finished", item: last });
  return { output, asks: false, item: last };
}

/** Shows what could not be opened, and fails. */
export async function* failingTurn(error: ToolNotOpened): AsyncGenerator<readonly ModelEvent[]> {
  yield wholeItem(error.opening.first, error.opening.last);
  throw error;
}

/** The server of a list of tools. */
export function labelOf(item: OutputItem | StoredItem): string | null {
  return item.type === "mcp_list_tools" ? item.server_label : null;
}
