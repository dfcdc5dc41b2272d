import { isRecord } from "../../base/records.ts";
import type { ModelEvent } from "../../runs/ports.ts";
import { CustomInputReader } from "./custom-input-reader.ts";
import { JsonScanner } from "./json-scanner.ts";
import { parseJson } from "./json-values.ts";
import { brokenAnswer } from "./model-errors.ts";
import type { CalledTool, ToolNames } from "./tool-names.ts";

/** Arguments of all calls of a turn, and what waits behind an unfinished call. */
const BUFFERED_CHARS_MAX = 16 * 1024 * 1024;

/** One tool call as far as it has arrived. */
export class IncomingCall {
  readonly id: string | null;
  name = "";
  arguments = "";
  /** How much of `arguments` was passed on. */
  sent = 0;
  state: "waiting" | "open" | "closed" = "waiting";
  started: CalledTool | null = null;
  customInput: CustomInputReader | null = null;
  scanner = new JsonScanner();

  constructor(id: string | null) {
    this.id = id;
  }

  get whole(): boolean {
    return this.scanner.whole;
  }
}

/**
 * Makes a turn strictly sequential. Whatever arrives while a call is open and its arguments are not whole waits in line behind it;
 * everything else passes straight through to `events`.
 */
export class CallSequencer {
  /** What may be passed on, in order. The owner takes it. */
  events: ModelEvent[] = [];
  readonly #toolNames: ToolNames;
  #open: IncomingCall | null = null;
  #line: (IncomingCall | ModelEvent)[] = [];
  #bufferedChars = 0;

  constructor(toolNames: ToolNames) {
    this.#toolNames = toolNames;
  }

  add(event: ModelEvent): void {
    if (this.#open?.whole === true) this.#closeOpen();
    if (this.#open === null) {
      this.events.push(event);
      return;
    }
    this.#countBuffered("text" in event ? event.text.length : 1);
    this.#line.push(event);
  }

  addCall(call: IncomingCall): void {
    if (this.#open?.whole === true) this.#closeOpen();
    if (this.#open === null) this.#makeOpen(call);
    else this.#line.push(call);
  }

  isKnownTool(name: string): boolean {
    return this.#toolNames.has(name);
  }

  appendName(call: IncomingCall, name: string): void {
    if (call.started !== null || name === call.name || this.#toolNames.has(call.name)) return; // Repeated on later deltas by some servers.
    call.name = name.startsWith(call.name) ? name : call.name + name; // Cumulative on some servers, in pieces on others.
    if (call === this.#open) this.#passOn(call);
  }

  appendArguments(call: IncomingCall, text: string): void {
    if (text === "") return;
    if (call.whole && isRepeated(call, text)) return;
    if (call.state === "closed") throw brokenAnswer("sent arguments for a tool call that it had ended");
    this.#countBuffered(text.length);
    if (isPlaceholder(call) && text.trimStart().startsWith("{")) {
      call.arguments = ""; // "{}" first and the real arguments afterwards: a habit of some gateways.
      call.scanner = new JsonScanner();
    }
    call.arguments += text;
    call.scanner.feed(text);
    if (call !== this.#open) return;
    this.#passOn(call);
    if (call.whole && this.#line.length > 0) this.#closeOpen();
  }

  /** Ends the turn: unfinished calls are closed as they are, and nothing waits any longer. */
  finish(): void {
    while (this.#open !== null) this.#closeOpen();
  }

  #closeOpen(): void {
    let call = this.#open;
    while (call !== null) {
      this.#close(call);
      call = this.#nextOpen();
      if (call !== null && !(call.whole && this.#line.length > 0)) return;
    }
  }

  /** Lets what stands in line go, up to and including the next call. */
  #nextOpen(): IncomingCall | null {
    this.#open = null;
    let released = 0;
    for (const next of this.#line) {
      released += 1;
      if (next instanceof IncomingCall) {
        this.#line = this.#line.slice(released);
        this.#makeOpen(next);
        return next;
      }
      this.events.push(next);
    }
    this.#line = [];
    return null;
  }

  #makeOpen(call: IncomingCall): void {
    this.#open = call;
    call.state = "open";
    this.#passOn(call);
  }

  #close(call: IncomingCall): void {
    if (call.name === "") throw brokenAnswer("called a tool without saying which");
    const tool = call.started ?? this.#start(call);
    if (call.arguments.trim() === "" && tool.kind === "function") call.arguments = "{}"; // Clients parse the arguments as JSON.
    if (tool.kind === "tool_search") {
      call.state = "closed";
      this.events.push({ type: "tool_search", callId: call.id, arguments: readArguments(call.arguments) });
      return;
    }
    this.#sendArguments(call);
    const rest = call.customInput?.end() ?? "";
    if (rest !== "") this.events.push({ type: "call_delta", text: rest });
    call.state = "closed";
    this.events.push({ type: "call_finished" });
  }

  /** Passes on what is sure: the start once the name is known to be whole, arguments unless they may be a placeholder. */
  #passOn(call: IncomingCall): void {
    if (call.started === null && (call.name === "" || (call.arguments === "" && !this.#toolNames.has(call.name))))
      return;
    if (call.started === null) this.#start(call);
    if (!isPlaceholder(call) && call.started?.kind !== "tool_search") this.#sendArguments(call);
  }

  #start(call: IncomingCall): CalledTool {
    const tool = this.#toolNames.resolve(call.name);
    call.started = tool;
    if (tool.kind === "tool_search") return tool; // Told whole, when its arguments are.
    if (tool.kind === "custom") call.customInput = new CustomInputReader();
    const started = { type: "call_started", kind: tool.kind, callId: call.id, name: tool.name } as const;
    this.events.push(tool.namespace === null ? started : { ...started, namespace: tool.namespace });
    return tool;
  }

  #sendArguments(call: IncomingCall): void {
    if (call.sent === call.arguments.length) return;
    const fresh = call.sent === 0 ? call.arguments : call.arguments.slice(call.sent);
    call.sent = call.arguments.length;
    const text = call.customInput === null ? fresh : call.customInput.feed(fresh);
    if (text !== "") this.events.push({ type: "call_delta", text });
  }

  #countBuffered(chars: number): void {
    this.#bufferedChars += chars;
    if (this.#bufferedChars > BUFFERED_CHARS_MAX) throw brokenAnswer("sent tool calls that are too large");
  }
}

function isPlaceholder(call: IncomingCall): boolean {
  return call.sent === 0 && call.whole && call.arguments.trim() === "{}";
}

/** White space after the last bracket, or the whole arguments once more. */
function isRepeated(call: IncomingCall, text: string): boolean {
  return text === call.arguments || text.trim() === "";
}

/** What is no JSON object asks for nothing. */
function readArguments(text: string): Record<string, unknown> {
  const value = parseJson(text);
  return isRecord(value) ? value : {};
}
