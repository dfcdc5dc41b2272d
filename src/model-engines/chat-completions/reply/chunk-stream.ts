import { StringDecoder } from "node:string_decoder";
import { createParser, type EventSourceParser } from "eventsource-parser";
import { jsonOrUndefined } from "../../../base/json/read-json.ts";
import { isRecord } from "../../../base/json/records.ts";
import type { ModelError, ModelEvent } from "../../../runs/ports.ts";
import { brokenAnswer } from "../errors/model-errors.ts";
import { readStreamErrorStatus } from "../errors/stream-error-status.ts";
import { type ErrorContext, explainRefusal } from "../errors/upstream-error.ts";
import { type JsonObject } from "../json-values.ts";
import type { ChunkReader } from "./chunk-reader.ts";

/** One SSE event of the model server; whole pictures or long arguments may come as one. */
const SSE_EVENT_CHARS_MAX = 16 * 1024 * 1024;
const LAST_DATA = "[DONE]";

/**
 * Turns the bytes of an SSE reply into model events. Throws `ModelError` for an error inside the stream; earlier events
 * can still be taken.
 */
export class ChunkStream {
  readonly #reader: ChunkReader;
  readonly #context: ErrorContext;
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser: EventSourceParser;
  #isDone = false;

  constructor(reader: ChunkReader, context: ErrorContext) {
    this.#reader = reader;
    this.#context = context;
    this.#parser = createParser({
      maxBufferSize: SSE_EVENT_CHARS_MAX,
      onEvent: (event) => this.#readData(event.data, event.event),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") throw brokenAnswer("sent an event that is too large");
      },
    });
  }

  /** True after the server's own end mark. */
  get isDone(): boolean {
    return this.#isDone;
  }

  feed(bytes: Buffer): void {
    this.#parser.feed(this.#decoder.write(bytes));
  }

  /**
   * The bytes are over. A last event without its empty line still counts; an answer without any sign of its end does
   * not.
   */
  end(): void {
    if (this.#isDone) return;
    this.#parser.feed(`${this.#decoder.end()}\n\n`);
    if (this.#isDone) return;
    if (!this.#reader.hasFinishReason) throw brokenAnswer("broke off in the middle of its answer");
    this.#finish();
  }

  /**
   * Whether the answer was complete but for its end mark; if so, ends it. For connections that stay open or break late.
   */
  endEarly(): boolean {
    if (!this.#isDone && this.#reader.hasFinishReason) this.#finish();
    return this.#isDone;
  }

  take(): ModelEvent[] {
    return this.#reader.take();
  }

  #readData(text: string, eventName: string | undefined): void {
    if (this.#isDone || text === "") return;
    if (text === LAST_DATA) {
      this.#finish();
      return;
    }
    const chunk = jsonOrUndefined(text);
    if (!isRecord(chunk)) throw brokenAnswer("sent something that is no chat-completions chunk");
    if (isError(chunk, eventName)) throw explainStreamError(chunk, this.#context);
    this.#reader.read(chunk);
  }

  #finish(): void {
    this.#isDone = true;
    this.#reader.finish();
  }
}

/** Errors after the reply began: `{"error": …}`, an SSE event of that name, or the bare object of older vLLM. */
export function isError(chunk: JsonObject, eventName?: string): boolean {
  const error = chunk["error"];
  return (
    (error !== undefined && error !== null && error !== false) ||
    chunk["object"] === "error" ||
    (eventName === "error" && chunk["choices"] === undefined)
  );
}

export function explainStreamError(chunk: JsonObject, context: ErrorContext): ModelError {
  const status = readStreamErrorStatus(isRecord(chunk["error"]) ? chunk["error"] : chunk);
  return explainRefusal({ status, headers: {}, body: chunk }, context, 0);
}
