import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ToolNames } from "../../context/tool-names.ts";
import { brokenAnswer } from "../../model-server/errors/model-errors.ts";
import { isList, type JsonObject, textOrNull } from "../../model-server/json-values.ts";
import { sizeOfEvent } from "../../model-server/reply/event-size.ts";
import { CallReader } from "./call-reader.ts";
import { type Emit, type ItemReader, MessageItemReader, ReasoningReader } from "./item-reader.ts";

/** Limit of the characters of items that wait behind an unfinished one. */
const WAITING_CHARACTERS_MAX = 4 * 1024 * 1024;
/** More tokens than any turn can take; a larger number is invalid. */
const TOKENS_MAX = 1_000_000_000;

export interface AnswerReaderOptions {
  readonly toolNames: ToolNames;
  /** See `serverKey`. */
  readonly server: string;
  /** Called with the token counts of the server, if any. */
  readonly onUsage: (usage: ModelUsage) => void;
  /** Called with the type of each skipped event or item. */
  readonly onSkipped: (type: string) => void;
}

/** An item of the answer and its events that were not passed on. */
interface OpenItem {
  /** The id that the server gave it first, if any. */
  readonly id: string | null;
  /** Null for an item of a tool that the model server runs itself. */
  readonly reader: ItemReader | null;
  readonly events: ModelEvent[];
  isDone: boolean;
}

type Finish = Extract<ModelEvent, { type: "finished" }>["reason"];

/** Events that say nothing which others do not say, too. */
const REPEATING =
  /^(?:keepalive|ping|response\.(?:queued|in_progress|content_part\.(?:added|done)|reasoning_part\.(?:added|done)|reasoning_summary_part\.(?:added|done)))$/;

/** Events about a part of an item, by the type of the item. */
const ITEM_OF: readonly (readonly [events: RegExp, item: string])[] = [
  [/^response\.(?:output_text|refusal)\./, "message"],
  [/^response\.reasoning(?:_text|_summary_text)?\./, "reasoning"],
  [/^response\.function_call_arguments\./, "function_call"],
  [/^response\.custom_tool_call_input\./, "custom_tool_call"],
];

/**
 * Turns the events of a streamed response into model events. Makes them strictly sequential: items wait behind an
 * unfinished earlier one.
 */
export class AnswerReader {
  readonly #options: AnswerReaderOptions;
  readonly #items = new Map<unknown, OpenItem>();
  /** The items that are not passed on completely, in their order. */
  #waiting: OpenItem[] = [];
  #waitingCharacters = 0;
  #events: ModelEvent[] = [];
  #hasModel = false;
  #finish: Finish | null = null;
  #usage: ModelUsage | null = null;

  constructor(options: AnswerReaderOptions) {
    this.#options = options;
  }

  /** True after the event that ends the response. */
  get isComplete(): boolean {
    return this.#finish !== null;
  }

  /** Reads an event that is not an error. */
  read(event: JsonObject): void {
    const type = textOrNull(event["type"]) ?? "";
    if (isRecord(event["response"])) this.#readModel(event["response"]);
    switch (type) {
      case "response.created":
        return;
      case "response.output_item.added":
        if (isRecord(event["item"])) this.#itemAt(keyOf(event), event["item"]);
        return;
      case "response.output_item.done":
        if (isRecord(event["item"])) this.#endItem(this.#itemAt(keyOf(event), event["item"]), event["item"]);
        return this.#passOn();
      case "response.completed":
      case "response.incomplete":
        if (isRecord(event["response"])) this.readResponse(event["response"]);
        return;
      default:
        this.#readDelta(type, event);
    }
  }

  /** Reads the last form of the response. What was not streamed is taken from it. */
  readResponse(response: JsonObject): void {
    this.#readModel(response);
    this.#endItems(isList(response["output"]) ? response["output"] : []);
    this.#usage = readResponseUsage(response["usage"]);
    this.#finish = finishOf(response);
    this.#passOn();
  }

  /** Ends the turn. No event may be read afterwards. */
  finish(): void {
    const reason = this.#finish ?? "stop";
    for (const open of this.#waiting) {
      if (!open.isDone) open.reader?.finish(null, reason !== "stop");
      open.isDone = true;
    }
    this.#passOn();
    if (this.#usage !== null) {
      this.#options.onUsage(this.#usage);
      this.#events.push({ type: "usage", usage: this.#usage });
    }
    this.#events.push({ type: "finished", reason });
  }

  /** The events since the last call, in order. The caller owns the array. */
  take(): ModelEvent[] {
    const events = this.#events;
    if (events.length > 0) this.#events = [];
    return events;
  }

  #readModel(response: JsonObject): void {
    const model = textOrNull(response["model"]);
    if (this.#hasModel || model === null) return;
    this.#hasModel = true;
    const answerId = textOrNull(response["id"]);
    this.#events.push({ type: "model_resolved", model, ...(answerId === null ? {} : { answerId }) });
  }

  #readDelta(type: string, event: JsonObject): void {
    const itemType = ITEM_OF.find(([events]) => events.test(type))?.[1];
    if (itemType === undefined) {
      if (!REPEATING.test(type)) this.#options.onSkipped(type);
      return;
    }
    const open = this.#itemAt(keyOf(event), { type: itemType, id: event["item_id"] });
    if (open.isDone) return;
    open.reader?.read(event);
    this.#passOn();
  }

  #itemAt(key: unknown, item: JsonObject): OpenItem {
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const events: ModelEvent[] = [];
    const reader = this.#readerFor(item, (event) => {
      this.#waitingCharacters += sizeOfEvent(event);
      events.push(event);
    });
    const open: OpenItem = { id: textOrNull(item["id"]), reader, events, isDone: reader === null };
    this.#items.set(key, open);
    this.#waiting.push(open);
    this.#passOn();
    return open;
  }

  #readerFor(item: JsonObject, emit: Emit): ItemReader | null {
    const { toolNames, server, onSkipped } = this.#options;
    const type = textOrNull(item["type"]) ?? "";
    switch (type) {
      case "message":
        return new MessageItemReader(item, emit);
      case "reasoning":
        return new ReasoningReader(server, emit);
      case "function_call":
      case "custom_tool_call":
        return new CallReader(item, toolNames, emit);
      default:
        onSkipped(type);
        return null;
    }
  }

  #endItem(open: OpenItem, item: JsonObject): void {
    if (open.isDone) return;
    open.isDone = true;
    open.reader?.finish(item, false);
  }

  /** Passes on what the first unfinished item has, and all before it. */
  #passOn(): void {
    for (let open = this.#waiting[0]; open !== undefined; open = this.#waiting[0]) {
      for (const event of open.events.splice(0)) {
        this.#waitingCharacters -= sizeOfEvent(event);
        this.#events.push(event);
      }
      if (!open.isDone) break;
      this.#waiting.shift();
    }
    if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) throw brokenAnswer("sent output items that are too large");
  }

  /**
   * Ends the items of the whole output. Their events may have named other places, so their ids count, and otherwise
   * their order.
   */
  #endItems(output: readonly unknown[]): void {
    const streamed = [...this.#items.values()];
    const byId = new Map(streamed.map((open) => [open.id, open]));
    for (const [position, item] of output.entries()) {
      if (!isRecord(item)) continue;
      const known = byId.get(textOrNull(item["id"]) ?? "") ?? streamed[position];
      this.#endItem(known ?? this.#itemAt(`output ${position}`, item), item);
    }
  }
}

/** What an event calls its item: its place, or its id at servers that leave places out. */
function keyOf({ output_index: index, item_id: id, item }: JsonObject): unknown {
  return typeof index === "number" ? index : (id ?? (isRecord(item) ? item["id"] : undefined));
}

function finishOf(response: JsonObject): Finish {
  if (response["status"] !== "incomplete") return "stop";
  const details = response["incomplete_details"];
  return isRecord(details) && details["reason"] === "content_filter" ? "content_filter" : "length";
}

/** The token counts of a response. Null if a total is missing or invalid, because an estimate is then better. */
function readResponseUsage(usage: unknown): ModelUsage | null {
  if (!isRecord(usage)) return null;
  const inputTokens = readCount(usage["input_tokens"]);
  const outputTokens = readCount(usage["output_tokens"]);
  if (inputTokens === null || outputTokens === null) return null;
  const input = isRecord(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {};
  const output = isRecord(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {};
  return {
    inputTokens,
    cachedTokens: readCount(input["cached_tokens"]) ?? 0,
    cacheWriteTokens: readCount(input["cache_write_tokens"]) ?? 0,
    outputTokens,
    reasoningTokens: readCount(output["reasoning_tokens"]) ?? 0,
  };
}

function readCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null;
}
