import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { CalledTool, ToolNames } from "../../context/tool-names.ts";
import { brokenAnswer } from "../../model-server/errors/model-errors.ts";
import { CustomInputReader } from "../../model-server/reply/custom-input-reader.ts";
import { sizeOfEvent } from "../../model-server/reply/event-size.ts";
import { IncomingCall } from "./incoming-call.ts";

/** Limit of waiting characters: delayed arguments, and events behind an unfinished call. */
const WAITING_CHARACTERS_MAX = 4 * 1024 * 1024;

/** Makes a turn strictly sequential. Events wait behind an unfinished call; all others go straight to `events`. */
export class CallSequencer {
  /** Events that are ready, in order. The owner takes them. */
  events: ModelEvent[] = [];
  readonly #toolNames: ToolNames;
  #open: IncomingCall | null = null;
  #waiting: (IncomingCall | ModelEvent)[] = [];
  #waitingCharacters = 0;

  constructor(toolNames: ToolNames) {
    this.#toolNames = toolNames;
  }

  add(event: ModelEvent): void {
    if (this.#open?.isWhole === true) this.#closeOpen();
    if (this.#open === null) {
      this.events.push(event);
      return;
    }
    this.#waiting.push(event);
    this.#waitingCharacters += sizeOfEvent(event);
    this.#checkWaiting();
  }

  addCall(call: IncomingCall): void {
    if (this.#open?.isWhole === true) this.#closeOpen();
    if (this.#open === null) this.#makeOpen(call);
    else this.#waiting.push(call);
  }

  isKnownTool(name: string): boolean {
    return this.#toolNames.has(name);
  }

  appendName(call: IncomingCall, name: string): void {
    // Some servers repeat the name on later deltas.
    if (call.tool !== null || name === call.name || this.#toolNames.has(call.name)) return;
    // Some servers repeat the name so far, others send only the next piece.
    call.name = name.startsWith(call.name) ? name : call.name + name;
    if (call === this.#open) this.#passOn(call);
  }

  appendArguments(call: IncomingCall, text: string): void {
    if (text === "") return;
    if (call.isWhole && isRepeated(call, text)) return;
    if (call.state === "closed") throw brokenAnswer("sent arguments for a tool call that it had ended");
    if (call.isPlaceholder && text.trimStart().startsWith("{")) this.#restart(call);
    call.append(text);
    if (call.isSending) this.#send(call, text);
    else this.#hold(call, text);
    if (call === this.#open && call.isWhole && this.#waiting.length > 0) this.#closeOpen();
  }

  /** Ends the turn: closes all calls and releases all waiting events. `isCut`: unfinished calls were cut. */
  finish(isCut: boolean): void {
    while (this.#open !== null) this.#closeOpen(isCut);
  }

  #restart(call: IncomingCall): void {
    this.#waitingCharacters -= call.length;
    call.restart();
  }

  /** Counts waiting arguments, and emits them if possible. */
  #hold(call: IncomingCall, text: string): void {
    this.#waitingCharacters += text.length;
    if (call === this.#open) this.#passOn(call);
    this.#checkWaiting();
  }

  #closeOpen(isCut = false): void {
    let call = this.#open;
    while (call !== null) {
      this.#close(call, isCut);
      call = this.#nextOpen();
      if (call !== null && !(call.isWhole && this.#waiting.length > 0)) return;
    }
  }

  /** Releases waiting events up to the next call, and opens that call. */
  #nextOpen(): IncomingCall | null {
    this.#open = null;
    let releaseCount = 0;
    for (const next of this.#waiting) {
      releaseCount += 1;
      if (next instanceof IncomingCall) {
        this.#waiting = this.#waiting.slice(releaseCount);
        this.#makeOpen(next);
        return next;
      }
      this.#waitingCharacters -= sizeOfEvent(next);
      this.events.push(next);
    }
    this.#waiting = [];
    return null;
  }

  #makeOpen(call: IncomingCall): void {
    this.#open = call;
    call.state = "open";
    this.#passOn(call);
  }

  #close(call: IncomingCall, isTurnCut: boolean): void {
    const isCut = isTurnCut && !call.isWhole;
    call.state = "closed";
    // Cut within its name, so the tool is unknown.
    if (isCut && call.tool === null && !this.#toolNames.has(call.name)) return;
    if (call.name === "") throw brokenAnswer("called a tool without saying which");
    const tool = call.tool ?? this.#start(call);
    const cut = isCut ? { isCut } : {};
    if (tool.kind === "tool_search") {
      this.#waitingCharacters -= call.length;
      this.events.push({
        type: "tool_search",
        callId: call.id,
        arguments: readSearchArguments(call.arguments),
        ...cut,
      });
      return;
    }
    if (call.length > 0 && !call.isSending) this.#sendAll(call);
    // The client parses the arguments as JSON.
    else if (call.length === 0 && !isCut && tool.kind !== "custom") this.#send(call, "{}");
    const rest = call.customInput?.end() ?? "";
    if (rest !== "") this.events.push({ type: "call_delta", text: rest });
    this.events.push({ type: "call_finished", ...cut });
  }

  /** Emits the start once the name is complete, and the arguments unless they may be a placeholder. */
  #passOn(call: IncomingCall): void {
    if (call.tool === null && (call.name === "" || (call.length === 0 && !this.#toolNames.has(call.name)))) return;
    if (call.tool === null) this.#start(call);
    if (call.length > 0 && !call.isPlaceholder && call.tool?.kind !== "tool_search") this.#sendAll(call);
  }

  #start(call: IncomingCall): CalledTool {
    const tool = this.#toolNames.resolve(call.name);
    call.tool = tool;
    if (tool.kind === "tool_search") return tool; // Emitted as one event when its arguments are complete.
    if (tool.kind === "custom") call.customInput = new CustomInputReader();
    const event = { type: "call_started", kind: tool.kind, callId: call.id, name: tool.name } as const;
    this.events.push(tool.namespace === null ? event : { ...event, namespace: tool.namespace });
    return tool;
  }

  /** Emits all arguments that have arrived. */
  #sendAll(call: IncomingCall): void {
    call.isSending = true;
    this.#waitingCharacters -= call.length;
    this.#send(call, call.arguments);
  }

  #send(call: IncomingCall, piece: string): void {
    const text = call.customInput === null ? piece : call.customInput.feed(piece);
    if (text !== "") this.events.push({ type: "call_delta", text });
  }

  #checkWaiting(): void {
    if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) throw brokenAnswer("sent tool calls that are too large");
  }
}

/** Whether this is white space after the arguments, or a repetition of the whole arguments. */
function isRepeated(call: IncomingCall, text: string): boolean {
  return call.has(text) || text.trim() === "";
}

/** The arguments as an object; empty if they are not a JSON object. */
function readSearchArguments(text: string): Record<string, unknown> {
  const value = jsonOrUndefined(text);
  return isRecord(value) ? value : {};
}
