import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { CalledTool } from "../../context/tool-names.ts";
import { brokenAnswer } from "../../model-server/errors/model-errors.ts";
import { CustomInputReader } from "../../model-server/reply/custom-input-reader.ts";
import { JsonScanner } from "../../model-server/reply/json-scanner.ts";

/** Limit of the arguments of a tool search, which are held until they are complete. */
const SEARCH_CHARACTERS_MAX = 4 * 1024 * 1024;

/** Turns one call of a tool into model events. */
export class ToolUseReader {
  readonly #tool: CalledTool;
  readonly #callId: string | null;
  readonly #customInput: CustomInputReader | null;
  readonly #scanner = new JsonScanner();
  #isEmpty = true;
  #searchText = "";

  constructor(tool: CalledTool, callId: string | null) {
    this.#tool = tool;
    this.#callId = callId;
    this.#customInput = tool.kind === "custom" ? new CustomInputReader() : null;
  }

  begin(): readonly ModelEvent[] {
    const { kind, name, namespace } = this.#tool;
    if (kind === "tool_search") return []; // One event when its arguments are complete.
    const event = { type: "call_started", kind, callId: this.#callId, name } as const;
    return [namespace === null ? event : { ...event, namespace }];
  }

  add(piece: string): readonly ModelEvent[] {
    if (piece === "") return [];
    this.#isEmpty = false;
    this.#scanner.feed(piece);
    if (this.#tool.kind !== "tool_search") return deltas(this.#customInput?.feed(piece) ?? piece);
    this.#searchText += piece;
    if (this.#searchText.length > SEARCH_CHARACTERS_MAX) throw brokenAnswer("sent tool calls that are too large");
    return [];
  }

  /** `isTurnCut`: whether the answer may have ended within the call. */
  end(isTurnCut: boolean): readonly ModelEvent[] {
    const isCut = isTurnCut && !this.#scanner.whole;
    const cut = isCut ? { isCut } : {};
    if (this.#tool.kind === "tool_search") {
      const input = jsonOrUndefined(this.#searchText);
      return [{ type: "tool_search", callId: this.#callId, arguments: isRecord(input) ? input : {}, ...cut }];
    }
    // The client parses the arguments as JSON.
    const rest = this.#customInput === null ? (this.#isEmpty && !isCut ? "{}" : "") : this.#customInput.end();
    return [...deltas(rest), { type: "call_finished", ...cut }];
  }
}

function deltas(text: string): readonly ModelEvent[] {
  return text === "" ? [] : [{ type: "call_delta", text }];
}
