import { isRecord } from "@antiphon/base/json/records.ts";
import { brokenAnswer } from "../../model-server/errors/model-errors.ts";
import { type JsonObject, textOrNull } from "../../model-server/json-values.ts";
import type { CallSequencer } from "./call-sequencer.ts";
import { IncomingCall } from "./incoming-call.ts";

/** The largest value that `ANSWER_CALLS_MAX` can be set to. */
const CALLS_MAX = 1024;
/** The contract allows ids of 64 characters. The run replaces a longer id. */
const CALL_ID_CHARS_MAX = 64;
/** The index for the only call of the older `function_call` format. */
const LEGACY_INDEX = -1;

interface CallDelta {
  readonly index: number | null;
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
}

/**
 * Finds the call that each delta belongs to. Servers differ: by index, by id, by both, by order alone, with index 0 for
 * every call, with one call under several indexes, or with a new id on each delta.
 */
export class ToolCallReader {
  readonly #sequencer: CallSequencer;
  readonly #calls: IncomingCall[] = [];
  readonly #byIndex = new Map<number, IncomingCall>();
  readonly #byId = new Map<string, IncomingCall>();

  constructor(sequencer: CallSequencer) {
    this.#sequencer = sequencer;
  }

  /** Reads one element of `delta.tool_calls`. */
  read(entry: unknown): void {
    if (!isRecord(entry)) return;
    const call = isRecord(entry["function"]) ? entry["function"] : entry;
    const index = entry["index"];
    this.#apply({
      index: typeof index === "number" ? index : null,
      id: textOrNull(entry["id"]),
      name: textOrNull(call["name"]),
      arguments: argumentsOf(call),
    });
  }

  /** Reads the older `delta.function_call`: one call without an id. */
  readLegacy(call: JsonObject): void {
    this.#apply({ index: LEGACY_INDEX, id: null, name: textOrNull(call["name"]), arguments: argumentsOf(call) });
  }

  #apply(delta: CallDelta): void {
    const call = this.#find(delta) ?? this.#begin(delta);
    if (delta.index !== null) this.#byIndex.set(delta.index, call);
    if (delta.id !== null) this.#byId.set(delta.id, call);
    if (delta.name !== null) this.#sequencer.appendName(call, delta.name);
    this.#sequencer.appendArguments(call, delta.arguments);
  }

  #find(delta: CallDelta): IncomingCall | undefined {
    const sameId = delta.id === null ? undefined : this.#byId.get(delta.id);
    if (sameId !== undefined) return this.#beginsAnother(sameId, delta) ? undefined : sameId;
    const sameIndex = delta.index === null ? undefined : this.#byIndex.get(delta.index);
    const latest = this.#calls.at(-1);
    if (delta.name === null) return sameIndex ?? latest; // A delta without a name never begins a call.
    if (delta.id !== null) return undefined;
    const candidate = sameIndex ?? (delta.index === null ? latest : undefined);
    return candidate === undefined || this.#beginsAnother(candidate, delta) ? undefined : candidate;
  }

  /** A repeated name is a repetition while the call is unfinished, and another call once it is complete. */
  #beginsAnother(call: IncomingCall, delta: CallDelta): boolean {
    if (delta.name === null) return false;
    if (call.isWhole)
      return (
        delta.name !== call.name ||
        !(isBlankArguments(delta.arguments) || call.has(delta.arguments) || call.isEmptyObject)
      );
    const isNamed = call.length > 0 || this.#sequencer.isKnownTool(call.name);
    return isNamed && delta.name !== call.name && !delta.name.startsWith(call.name);
  }

  #begin(delta: CallDelta): IncomingCall {
    if (this.#calls.length === CALLS_MAX) throw brokenAnswer(`made more than ${CALLS_MAX} tool calls in one turn`);
    const isUsable = delta.id !== null && delta.id.length <= CALL_ID_CHARS_MAX && !this.#byId.has(delta.id);
    const call = new IncomingCall(isUsable ? delta.id : null);
    this.#calls.push(call);
    this.#sequencer.addCall(call);
    return call;
  }
}

/** Whether the text is empty or white space after arguments. */
function isBlankArguments(text: string): boolean {
  return text.trim() === "";
}

/** The arguments as text. Some servers send them as an object. */
function argumentsOf(call: JsonObject): string {
  const value = call["arguments"] ?? call["parameters"];
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}
