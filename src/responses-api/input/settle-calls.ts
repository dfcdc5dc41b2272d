import type { StoredItem } from "../../../generated/responses-api/types.ts";
import { toolCallMissing, toolOutputMissing } from "../errors/state-errors.ts";
import { localShellOutputId } from "./place-items.ts";

/**
 * The context as a model is shown it: each call once, with one output. A call that is sent again beside its output is
 * left out; of several outputs of one call the latest counts, and stands where the first one stood.
 * Throws where a call of a function or custom tool lacks its output, or such an output its call.
 */
export function settleCalls(context: readonly StoredItem[]): readonly StoredItem[] {
  if (!context.some(isOfCall)) return context;
  const settling = new Settling(context);
  for (let place = 0; place < context.length; place++) settling.settle(place);
  return settling.end();
}

/**
 * What answers a call: these outputs carry a `call_id`. A client that searches for tools may answer as a function does.
 */
const CALL_OF_OUTPUT: ReadonlyMap<string, string> = new Map([
  ["function_call_output", "function_call"],
  ["tool_search_output", "function_call"],
  ["custom_tool_call_output", "custom_tool_call"],
  ["computer_call_output", "computer_call"],
  ["shell_call_output", "shell_call"],
  ["apply_patch_call_output", "apply_patch_call"],
]);

/** The same by the type of the call. */
const CALL_KINDS: ReadonlyMap<string, string> = new Map([
  ...[...CALL_OF_OUTPUT.values()].map((type): [string, string] => [type, type]),
  ["tool_search_call", "function_call"],
]);

/** These are refused without their other half; for all others the model engine decides. */
const STRICT_CALLS: ReadonlySet<string> = new Set(["function_call", "custom_tool_call"]);
const STRICT_OUTPUTS: ReadonlySet<string> = new Set(["function_call_output", "custom_tool_call_output"]);

interface Call {
  readonly item: StoredItem;
  readonly place: number;
}

/**
 * The calls with one id. All of its lists only grow, so that many calls with one id cost no more than many with
 * different ones.
 */
interface CallsOfId {
  readonly calls: Call[];
  /** How many of `calls` have their output. */
  answered: number;
  /** Calls that look like the first one without output. Each may still turn out to have an output of its own. */
  repeats: Call[];
  answeredRepeats: number;
  /** Where the output of the latest answered call stands. */
  latestOutput: number | null;
}

/** Whether an item is a call, or answers one. */
function isOfCall({ type }: StoredItem): boolean {
  return (
    CALL_KINDS.has(type) ||
    CALL_OF_OUTPUT.has(type) ||
    type === "local_shell_call" ||
    type === "local_shell_call_output"
  );
}

class Settling {
  readonly #items: (StoredItem | null)[];
  readonly #byId = new Map<string, CallsOfId>();
  /** The item ids of local shell calls, by each name that their outputs may have for them. */
  readonly #localShellCalls = new Map<string, string>();

  constructor(items: readonly StoredItem[]) {
    this.#items = [...items];
  }

  settle(place: number): void {
    const item = this.#items[place];
    if (item == null || !isOfCall(item)) return;
    if (item.type === "local_shell_call") this.#nameLocalShell(item);
    const id = this.#callIdOf(item);
    if (id === null) return;
    if (CALL_KINDS.has(item.type) || item.type === "local_shell_call") this.#addCall(id, { item, place });
    else this.#addOutput(id, item, place);
  }

  end(): readonly StoredItem[] {
    for (const { calls, answered, repeats, answeredRepeats } of this.#byId.values()) {
      for (const { item } of calls.slice(answered)) {
        if (STRICT_CALLS.has(item.type) && "call_id" in item) throw toolOutputMissing(item.call_id ?? "");
      }
      this.#leaveOut(repeats.slice(answeredRepeats));
    }
    return this.#items.filter((item) => item !== null);
  }

  #addCall(id: string, call: Call): void {
    const known = this.#callsOf(id);
    if (known.latestOutput !== null) this.#endRound(known);
    const first = known.calls[known.answered];
    const isRepeat = first !== undefined && nameOf(first.item) === nameOf(call.item);
    (isRepeat ? known.repeats : known.calls).push(call);
  }

  /** A call that comes after an output is a new one: what was repeated before that has no output any more. */
  #endRound(known: CallsOfId): void {
    this.#leaveOut(known.repeats.slice(known.answeredRepeats));
    known.repeats = [];
    known.answeredRepeats = 0;
  }

  #addOutput(id: string, item: StoredItem, place: number): void {
    const known = this.#byId.get(id);
    const output = this.#namingItsCall(item);
    if (known !== undefined && takeAnswer(known)) {
      known.latestOutput = place;
      this.#items[place] = output;
    } else if (known?.latestOutput != null && this.#items[known.latestOutput]?.type === item.type) {
      this.#items[known.latestOutput] = output;
      this.#items[place] = null;
    } else if (STRICT_OUTPUTS.has(item.type) && "call_id" in item) throw toolCallMissing(item.call_id ?? "");
  }

  #leaveOut(calls: readonly Call[]): void {
    for (const { place } of calls) this.#items[place] = null;
  }

  #callsOf(id: string): CallsOfId {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const none: CallsOfId = { calls: [], answered: 0, repeats: [], answeredRepeats: 0, latestOutput: null };
    this.#byId.set(id, none);
    return none;
  }

  /** One text for a call and its outputs; null for all other items, and for what the server ran by itself. */
  #callIdOf(item: StoredItem): string | null {
    if (item.type === "local_shell_call") return `${item.type} ${item.id}`;
    if (item.type === "local_shell_call_output") return `local_shell_call ${this.#localShellCalls.get(item.id) ?? ""}`;
    const kind = CALL_KINDS.get(item.type) ?? CALL_OF_OUTPUT.get(item.type);
    if (kind === undefined || !("call_id" in item) || typeof item.call_id !== "string") return null;
    return `${kind} ${item.call_id}`;
  }

  /** Outputs of local shell calls name their call by `id`, and clients put one or the other of its ids there. */
  #nameLocalShell({ id, call_id: callId }: Extract<StoredItem, { type: "local_shell_call" }>): void {
    for (const name of [id, callId]) {
      this.#localShellCalls.set(name, id);
      this.#localShellCalls.set(localShellOutputId(name), id);
    }
  }

  /** Model engines match outputs of local shell calls by the item id of the call. */
  #namingItsCall(item: StoredItem): StoredItem {
    if (item.type !== "local_shell_call_output") return item;
    return { ...item, id: this.#localShellCalls.get(item.id) ?? item.id };
  }
}

/** Whether a call still waited for an output, which now has one. */
function takeAnswer(known: CallsOfId): boolean {
  if (known.answered < known.calls.length) known.answered++;
  else if (known.answeredRepeats < known.repeats.length) known.answeredRepeats++;
  else return false;
  return true;
}

function nameOf(item: StoredItem): string {
  return "name" in item && typeof item.name === "string" ? `${item.type} ${item.name}` : item.type;
}
