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

/** Maximum size of one SSE event. A whole image or long arguments may come as one event. */
const SSE_EVENT_CHARS_MAX = 16 * 1024 * 1024;
const LAST_DATA = "[DONE]";

/**
 * Turns the bytes of an SSE reply into model events. Throws `ModelError` on an error in the stream; earlier events can
 * still be taken.
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

  /** True after `[DONE]`, or after the turn was ended in another way. */
  get isDone(): boolean {
    return this.#isDone;
  }

  feed(bytes: Buffer): void {
    this.#parser.feed(this.#decoder.write(bytes));
  }

  /**
   * Call at the end of the bytes. A last event without an empty line still counts. Throws `ModelError` if there was
   * neither a finish reason nor `[DONE]`.
   */
  end(): void {
    if (this.#isDone) return;
    this.#parser.feed(`${this.#decoder.end()}\n\n`);
    if (this.#isDone) return;
    if (!this.#reader.hasFinishReason) throw brokenAnswer("broke off in the middle of its answer");
    this.#finish();
  }

  /**
   * Ends the turn if only `[DONE]` is missing, and returns whether it has ended. For connections that stay open or
   * break late.
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

/** Whether a chunk is an error: `{"error": …}`, an SSE event named `error`, or the bare object of older vLLM. */
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
