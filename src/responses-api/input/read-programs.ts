import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { CallValue } from "@antiphon/domain/programs.ts";

export type ProgramItem = Extract<StoredItem, { type: "program" }>;

/** A program without an output. */
export interface OpenProgram {
  readonly item: ProgramItem;
  /** The calls that it has made, oldest first. */
  readonly calls: readonly LoggedCall[];
}

/** A call by a program, as its items show it. */
export interface LoggedCall {
  readonly name: string;
  /** The label of an MCP server, or the namespace of a client's function; null if there is none. */
  readonly server: string | null;
  /** Null while it has none. */
  readonly result: CallValue | null;
  /** The approval request that the call waits for, or with which it ran. */
  readonly approvalRequestId: string | null;
}

/** The program at the end of these items that has no output; null if there is none. */
export function unfinishedProgram(items: readonly StoredItem[]): OpenProgram | null {
  const reader = new ProgramReader();
  for (const item of items) reader.add(item);
  return reader.open;
}

/** The items without the calls of programs, their approvals and their results: a model sees what a program wrote. */
export function withoutProgramCalls<Item extends StoredItem>(items: readonly Item[]): readonly Item[] {
  if (!items.some(({ type }) => type === "program")) return items;
  const reader = new ProgramReader();
  return items.filter((item) => !reader.add(item));
}

/** Follows a list of items, oldest first. At most one program is open at a time. */
class ProgramReader {
  #item: ProgramItem | null = null;
  #calls: LoggedCall[] = [];
  /** The places in `#calls` of calls that wait for an output or an approval, by their ids. */
  #waiting = new Map<string, number>();

  get open(): OpenProgram | null {
    return this.#item === null ? null : { item: this.#item, calls: this.#calls };
  }

  /** Returns whether the item belongs to a call of the open program. */
  add(item: StoredItem): boolean {
    if (item.type === "program") {
      this.#item = item;
      this.#calls = [];
      this.#waiting = new Map();
      return false;
    }
    if (item.type === "program_output" && item.call_id === this.#item?.call_id) this.#item = null;
    return this.#item !== null && this.#addCall(item, this.#item.call_id);
  }

  #addCall(item: StoredItem, programId: string): boolean {
    if (item.type === "function_call" || item.type === "custom_tool_call") {
      if (item.caller?.type !== "program" || item.caller.caller_id !== programId) return false;
      return this.#wait(item.call_id, { name: item.name, server: item.namespace ?? null });
    }
    if (item.type === "function_call_output" || item.type === "custom_tool_call_output")
      return this.#answer(item.call_id, { isError: false, text: textOfOutput(item.output) });
    if (item.type === "mcp_approval_request")
      return this.#wait(item.id, { name: item.name, server: item.server_label }, item.id);
    if (item.type !== "mcp_approval_response") return this.#addHosted(item);
    if (!this.#waiting.has(item.approval_request_id)) return false;
    return item.approve || this.#answer(item.approval_request_id, DENIED);
  }

  #addHosted(item: StoredItem): boolean {
    const call = endedCall(item);
    if (call === null) return false;
    const place = this.#waiting.get(call.approvalRequestId ?? "");
    if (place === undefined) this.#calls.push(call);
    else this.#calls[place] = call;
    return true;
  }

  #wait(id: string, call: Pick<LoggedCall, "name" | "server">, approvalRequestId: string | null = null): true {
    this.#waiting.set(id, this.#calls.length);
    this.#calls.push({ ...call, result: null, approvalRequestId });
    return true;
  }

  #answer(id: string, result: CallValue): boolean {
    const place = this.#waiting.get(id);
    const call = place === undefined ? undefined : this.#calls[place];
    if (place === undefined || call === undefined) return false;
    this.#calls[place] = { ...call, result };
    return true;
  }
}

const DENIED: CallValue = { isError: true, text: "The user denied this call." };

/** The call that this item of a hosted tool shows; null for other items. */
export function endedCall(item: StoredItem): LoggedCall | null {
  if (item.type !== "mcp_call") return null;
  const { name, server_label: server, error, output, approval_request_id: approvalRequestId } = item;
  const result = error === null ? { isError: false, text: output ?? "" } : { isError: true, text: errorText(error) };
  return { name, server, result, approvalRequestId };
}

function errorText(error: unknown): string {
  return typeof error === "string" ? error : JSON.stringify(error);
}

type CallOutput = Extract<StoredItem, { type: "function_call_output" | "custom_tool_call_output" }>["output"];

function textOfOutput(output: CallOutput): string {
  if (typeof output === "string") return output;
  return output.flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : [])).join("\n");
}
