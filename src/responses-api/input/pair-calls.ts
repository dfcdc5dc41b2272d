import { anyInSlices, eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { toolCallMissing, toolOutputMissing } from "../errors/state-errors.ts";
import { localShellOutputId } from "./normalize-items.ts";

/**
 * Pairs calls with outputs, so that the model sees each call once, with one output. A call sent again together with its
 * output is dropped. If a call has several outputs, the latest replaces the first in its place. Throws if a call of a
 * function or custom tool has no output, or such an output has no call.
 */
export async function pairCalls(context: readonly StoredItem[]): Promise<readonly StoredItem[]> {
  if (!(await anyInSlices(context, isCallOrOutput))) return context;
  const pairing = new CallPairing(context);
  await eachInSlices(context, (_item, place) => pairing.add(place));
  return pairing.finish();
}

/**
 * Output types with a `call_id`, and the type of their call. A client's tool search may be answered by a function's
 * output.
 */
const CALL_OF_OUTPUT: ReadonlyMap<string, string> = new Map([
  ["function_call_output", "function_call"],
  ["tool_search_output", "function_call"],
  ["custom_tool_call_output", "custom_tool_call"],
  ["computer_call_output", "computer_call"],
  ["shell_call_output", "shell_call"],
  ["apply_patch_call_output", "apply_patch_call"],
]);

/** Call types, with their names in `CALL_OF_OUTPUT`. */
const CALL_KINDS: ReadonlyMap<string, string> = new Map([
  ...[...CALL_OF_OUTPUT.values()].map((type): [string, string] => [type, type]),
  ["tool_search_call", "function_call"],
]);

/** These types are refused without their other half. For all others, the model engine decides. */
const STRICT_CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);
const STRICT_OUTPUTS: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);

interface Call {
  readonly item: StoredItem;
  readonly place: number;
}

/** The calls with one id. Its lists only grow, so many calls with one id cost no more than calls with different ids. */
interface CallsOfId {
  readonly calls: Call[];
  /** How many of `calls`, from the first on, have their output. */
  answerCount: number;
  /** Calls with the same name as the first call without output. Their own output may still follow. */
  repeats: Call[];
  answeredRepeats: number;
  /** The index of the output of the latest answered call. */
  latestOutput: number | null;
}

function isCallOrOutput({ type }: StoredItem): boolean {
  if (type === "message") return false; // The usual case.
  return (
    CALL_KINDS.has(type) ||
    CALL_OF_OUTPUT.has(type) ||
    type === "local_shell_call" ||
    type === "local_shell_call_output"
  );
}

class CallPairing {
  readonly #items: (StoredItem | null)[];
  readonly #byId = new Map<string, CallsOfId>();
  /** The item ids of local shell calls, keyed by each id that their outputs may use. */
  readonly #localShellCalls = new Map<string, string>();

  constructor(items: readonly StoredItem[]) {
    this.#items = [...items];
  }

  add(place: number): void {
    const item = this.#items[place];
    if (item == null || !isCallOrOutput(item)) return;
    if (item.type === "local_shell_call") this.#recordLocalShellIds(item);
    const id = this.#callIdOf(item);
    if (id === null) return;
    if (CALL_KINDS.has(item.type) || item.type === "local_shell_call") this.#addCall(id, { item, place });
    else this.#addOutput(id, item, place);
  }

  finish(): readonly StoredItem[] {
    for (const { calls, answerCount, repeats, answeredRepeats } of this.#byId.values()) {
      for (const { item } of calls.slice(answerCount)) {
        if (STRICT_CALLS.has(item.type) && "call_id" in item) throw toolOutputMissing(item.call_id ?? "");
      }
      this.#leaveOut(repeats.slice(answeredRepeats));
    }
    return this.#items.filter((item) => item !== null);
  }

  #addCall(id: string, call: Call): void {
    const entry = this.#callsOf(id);
    if (entry.latestOutput !== null) this.#startRound(entry);
    const first = entry.calls[entry.answerCount];
    const isRepeat = first !== undefined && typeAndName(first.item) === typeAndName(call.item);
    (isRepeat ? entry.repeats : entry.calls).push(call);
  }

  /** A call after an output is a new call. Repeats before it cannot get an output any more, so they are dropped. */
  #startRound(entry: CallsOfId): void {
    this.#leaveOut(entry.repeats.slice(entry.answeredRepeats));
    entry.repeats = [];
    entry.answeredRepeats = 0;
  }

  #addOutput(id: string, item: StoredItem, place: number): void {
    const entry = this.#byId.get(id);
    const output = this.#withItemIdOfCall(item);
    if (entry !== undefined && markAnswered(entry)) {
      entry.latestOutput = place;
      this.#items[place] = output;
    } else if (entry?.latestOutput != null && this.#items[entry.latestOutput]?.type === item.type) {
      this.#items[entry.latestOutput] = output;
      this.#items[place] = null;
    } else if (STRICT_OUTPUTS.has(item.type) && "call_id" in item) throw toolCallMissing(item.call_id ?? "");
  }

  #leaveOut(calls: readonly Call[]): void {
    for (const { place } of calls) this.#items[place] = null;
  }

  #callsOf(id: string): CallsOfId {
    const entry = this.#byId.get(id);
    if (entry !== undefined) return entry;
    const none: CallsOfId = { calls: [], answerCount: 0, repeats: [], answeredRepeats: 0, latestOutput: null };
    this.#byId.set(id, none);
    return none;
  }

  /** A key that a call and its outputs share. Null for other items and for calls that the server ran itself. */
  #callIdOf(item: StoredItem): string | null {
    if (item.type === "local_shell_call") return `${item.type} ${item.id}`;
    if (item.type === "local_shell_call_output") return `local_shell_call ${this.#localShellCalls.get(item.id) ?? ""}`;
    const kind = CALL_KINDS.get(item.type) ?? CALL_OF_OUTPUT.get(item.type);
    if (kind === undefined || !("call_id" in item) || typeof item.call_id !== "string") return null;
    return `${kind} ${item.call_id}`;
  }

  /** Outputs of local shell calls name their call in `id`: some clients use the call's `id`, others its `call_id`. */
  #recordLocalShellIds({ id, call_id: callId }: Extract<StoredItem, { type: "local_shell_call" }>): void {
    for (const name of [id, callId]) {
      this.#localShellCalls.set(name, id);
      this.#localShellCalls.set(localShellOutputId(name), id);
    }
  }

  /** Model engines match the output of a local shell call by the call's item id. */
  #withItemIdOfCall(item: StoredItem): StoredItem {
    if (item.type !== "local_shell_call_output") return item;
    return { ...item, id: this.#localShellCalls.get(item.id) ?? item.id };
  }
}

/** Marks the next open call as answered. False if no call was open. */
function markAnswered(entry: CallsOfId): boolean {
  if (entry.answerCount < entry.calls.length) entry.answerCount++;
  else if (entry.answeredRepeats < entry.repeats.length) entry.answeredRepeats++;
  else return false;
  return true;
}

function typeAndName(item: StoredItem): string {
  return "name" in item && typeof item.name === "string" ? `${item.type} ${item.name}` : item.type;
}
