import { StringDecoder } from "node:string_decoder";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { createParser, type EventSourceParser } from "eventsource-parser";
import { brokenAnswer, cutAnswer } from "../../model-server/errors/model-errors.ts";
import { readStreamErrorStatus } from "../../model-server/errors/stream-error-status.ts";
import { type ErrorContext, explainRefusal } from "../../model-server/errors/upstream-error.ts";
import { type JsonObject } from "../../model-server/json-values.ts";
import type { UpstreamReply } from "../../model-server/reply/upstream-turn.ts";
import type { ChunkReader } from "./chunk-reader.ts";
import { RepeatedEvent } from "./repeated-event.ts";

/** Maximum size of one SSE event. A whole image or long arguments may come as one event. */
const SSE_EVENT_CHARS_MAX = 16 * 1024 * 1024;
const LAST_DATA = "[DONE]";
const FIRST_NOT_ASCII = 0x80;
const EVENT_END = "\n\n";
/** How many consecutive examples may be useless before no more are taken. */
const USELESS_EXAMPLES_MAX = 8;

/**
 * Turns the bytes of an SSE reply into model events. Throws `ModelError` on an error in the stream; earlier events can
 * still be taken.
 */
export class ChunkStream implements UpstreamReply {
  readonly #reader: ChunkReader;
  readonly #context: ErrorContext;
  /** Null until the bytes of a character come in two pieces. */
  #decoder: StringDecoder | null = null;
  readonly #parser: EventSourceParser;
  #isDone = false;
  #isEmpty = true;
  /** Whether an event begins next. The parser reads the first one, because it removes a byte order mark. */
  #isBetweenEvents = false;
  #example: RepeatedEvent | null = null;
  #uselessExamples = 0;

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

  /** True after `[DONE]`, or after the turn ended in another way. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** True until something other than comments and empty events has arrived. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  get isComplete(): boolean {
    return this.#reader.hasFinishReason;
  }

  get hasUsage(): boolean {
    return this.#reader.hasUsage;
  }

  get outputTokens(): number {
    return this.#reader.outputTokens;
  }

  feed(bytes: Buffer): void {
    const text = this.#decode(bytes);
    if (this.#isEmpty) this.#isEmpty = !(text.startsWith("data: {") || TELLING_LINE.test(text));
    for (let at = 0; at < text.length; ) {
      const end = this.#readRepeated(text, at);
      at = end === -1 ? this.#readNext(text, at) : end;
    }
  }

  /**
   * Call at the end of the bytes. A last event without an empty line still counts. Throws `ModelError` if there was
   * neither a finish reason nor `[DONE]`.
   */
  end(): void {
    if (this.#isDone) return;
    this.#parser.feed(`${this.#decoder?.end() ?? ""}\n\n`);
    if (this.#isDone) return;
    if (!this.#reader.hasFinishReason) throw cutAnswer();
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

  /** The answer has the shape of a chunk, with `message` instead of `delta`. */
  readWhole(answer: JsonObject): void {
    if (isError(answer)) throw explainStreamError(answer, this.#context);
    this.#reader.read(answer);
    this.#reader.finish();
  }

  take(): ModelEvent[] {
    return this.#reader.take();
  }

  #decode(bytes: Buffer): string {
    const last = bytes[bytes.length - 1] ?? 0;
    if (this.#decoder === null && last < FIRST_NOT_ASCII) return bytes.toString(); // No character is split.
    this.#decoder ??= new StringDecoder("utf8");
    return this.#decoder.write(bytes);
  }

  /** Reads an event with the example's form, and returns its end; −1 if there is none at `at`. */
  #readRepeated(text: string, at: number): number {
    if (this.#example === null || !this.#isBetweenEvents || this.#isDone) return -1;
    const end = this.#example.read(text, at);
    if (end === -1) return -1;
    this.#uselessExamples = 0;
    this.#reader.read(this.#example.chunk);
    return end;
  }

  /** Reads any event, or its available part, and returns the end. */
  #readNext(text: string, at: number): number {
    const last = text.indexOf(EVENT_END, at);
    const end = last === -1 ? text.length : last + EVENT_END.length;
    const event = text.slice(at, end);
    const isWhole = this.#isBetweenEvents && last !== -1;
    this.#isBetweenEvents = last !== -1;
    if (!isWhole || !this.#readExample(event)) this.#parser.feed(event);
    return end;
  }

  /** Takes an event as the next example and reads it. Returns false if it is unsuitable. */
  #readExample(event: string): boolean {
    if (this.#isDone || this.#uselessExamples === USELESS_EXAMPLES_MAX) return false;
    const example = RepeatedEvent.like(event);
    if (example === null || isError(example.chunk) || example.read(event, 0) === -1) return false;
    this.#uselessExamples += 1;
    this.#example = example;
    this.#reader.read(example.chunk);
    return true;
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

/** A line with content: neither a comment, which some servers send to keep a connection open, nor empty data. */
const TELLING_LINE = /^(?!:|data:\s*$).*\S/m;

/** Whether a chunk is an error: `{"error": …}`, an SSE event named `error`, or the bare object of older vLLM. */
function isError(chunk: JsonObject, eventName?: string): boolean {
  const error = chunk["error"];
  return (
    (error !== undefined && error !== null && error !== false) ||
    chunk["object"] === "error" ||
    (eventName === "error" && chunk["choices"] === undefined)
  );
}

function explainStreamError(chunk: JsonObject, context: ErrorContext): ModelError {
  const status = readStreamErrorStatus(isRecord(chunk["error"]) ? chunk["error"] : chunk);
  return explainRefusal({ status, headers: {}, body: chunk }, context, 0);
}
