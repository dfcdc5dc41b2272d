import { type GrowingText, grow, lengthOf, NO_TEXT, wholeTextOf } from "@antiphon/base/growing-text.ts";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { CalledTool, ToolNames } from "../../context/tool-names.ts";
import { brokenAnswer } from "../../model-server/errors/model-errors.ts";
import { type JsonObject, textOrNull } from "../../model-server/json-values.ts";
import type { Emit, ItemReader } from "./item-reader.ts";

/** Reads a `function_call` or `custom_tool_call`. */
export class CallReader implements ItemReader {
  readonly #names: ToolNames;
  readonly #emit: Emit;
  readonly #isCustom: boolean;
  #callId: string | null;
  #tool: CalledTool | null = null;
  /** All input that has arrived. */
  #input: GrowingText = NO_TEXT;

  constructor(item: JsonObject, names: ToolNames, emit: Emit) {
    this.#names = names;
    this.#emit = emit;
    this.#isCustom = item["type"] === "custom_tool_call";
    this.#callId = textOrNull(item["call_id"]);
    this.#start(item["name"]);
  }

  read(event: JsonObject): void {
    switch (event["type"]) {
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#add(event["delta"]);
      case "response.function_call_arguments.done":
        this.#start(event["name"]);
        return this.#add(this.#restOf(event["arguments"]));
      case "response.custom_tool_call_input.done":
        return this.#add(this.#restOf(event["input"]));
      default:
    }
  }

  finish(item: JsonObject | null, isCut: boolean): void {
    const isIncomplete = item === null ? isCut : item["status"] === "incomplete";
    this.#callId ??= textOrNull(item?.["call_id"]);
    this.#start(item?.["name"]);
    const tool = this.#tool;
    if (tool === null) {
      if (isIncomplete) return; // Cut before its name.
      throw brokenAnswer("called a tool without saying which");
    }
    this.#add(this.#restOf(this.#isCustom ? item?.["input"] : item?.["arguments"]));
    const cut = isIncomplete ? { isCut: true } : {};
    if (tool.kind === "tool_search") {
      const search = jsonOrUndefined(wholeTextOf(this.#input));
      this.#emit({ type: "tool_search", callId: this.#callId, arguments: isRecord(search) ? search : {}, ...cut });
      return;
    }
    // The client parses the arguments as JSON.
    if (lengthOf(this.#input) === 0 && !isIncomplete && !this.#isCustom) this.#emit({ type: "call_delta", text: "{}" });
    this.#emit({ type: "call_finished", ...cut });
  }

  /** Starts the call once its name is known. */
  #start(value: unknown): void {
    const name = textOrNull(value);
    if (this.#tool !== null || name === null) return;
    const tool = this.#names.resolve(name);
    this.#tool = tool;
    if (tool.kind === "tool_search") return; // Emitted as one event when its arguments are complete.
    const kind = tool.kind === "hosted" ? "hosted" : this.#isCustom ? "custom" : "function";
    const event = { type: "call_started", kind, callId: this.#callId, name: tool.name } as const;
    this.#emit(tool.namespace === null ? event : { ...event, namespace: tool.namespace });
    const early = wholeTextOf(this.#input);
    if (early !== "") this.#emit({ type: "call_delta", text: early });
  }

  #add(delta: unknown): void {
    const text = textOrNull(delta);
    if (text === null) return;
    this.#input = grow(this.#input, text);
    if (this.#tool !== null && this.#tool.kind !== "tool_search") this.#emit({ type: "call_delta", text });
  }

  /** The part of the whole input that has not arrived yet. Some servers send arguments as an object. */
  #restOf(whole: unknown): string {
    const text = isRecord(whole) ? JSON.stringify(whole) : whole;
    return typeof text === "string" ? text.slice(lengthOf(this.#input)) : "";
  }
}
