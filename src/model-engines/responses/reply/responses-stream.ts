import { StringDecoder } from "node:string_decoder";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { createParser, type EventSourceParser } from "eventsource-parser";
import { brokenAnswer, cutAnswer } from "../../model-server/errors/model-errors.ts";
import { readStreamErrorStatus } from "../../model-server/errors/stream-error-status.ts";
import { type ErrorContext, explainRefusal } from "../../model-server/errors/upstream-error.ts";
import type { JsonObject } from "../../model-server/json-values.ts";
import type { UpstreamReply } from "../../model-server/reply/upstream-turn.ts";
import type { AnswerReader } from "./answer-reader.ts";

/** Maximum size of one SSE event. The last one repeats the whole answer. */
const SSE_EVENT_CHARS_MAX = 16 * 1024 * 1024;
const LAST_DATA = "[DONE]";

/** Turns the bytes of an SSE reply into model events. */
export class ResponsesStream implements UpstreamReply {
  /** The usage is left to the caller. */
  readonly hasUsage = true;
  readonly outputTokens = 0;
  readonly #reader: AnswerReader;
  readonly #context: ErrorContext;
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser: EventSourceParser;
  #isDone = false;
  #isEmpty = true;

  constructor(reader: AnswerReader, context: ErrorContext) {
    this.#reader = reader;
    this.#context = context;
    this.#parser = createParser({
      maxBufferSize: SSE_EVENT_CHARS_MAX,
      onEvent: ({ data, event }) => this.#readData(data, event),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") throw brokenAnswer("sent an event that is too large");
      },
    });
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  get isComplete(): boolean {
    return this.#reader.isComplete;
  }

  feed(bytes: Buffer): void {
    this.#parser.feed(this.#decoder.write(bytes));
  }

  /** A last event without an empty line still counts. */
  end(): void {
    if (this.#isDone) return;
    this.#parser.feed(`${this.#decoder.end()}\n\n`);
    if (!this.endEarly()) throw cutAnswer();
  }

  endEarly(): boolean {
    if (!this.#isDone && this.#reader.isComplete) this.#finish();
    return this.#isDone;
  }

  readWhole(answer: JsonObject): void {
    this.#check(answer);
    if (isRecord(answer["error"]) || answer["status"] === "failed") throw this.#explainFailure(answer);
    this.#reader.readResponse(answer);
    this.#finish();
  }

  take(): ModelEvent[] {
    return this.#reader.take();
  }

  #readData(text: string, eventName: string | undefined): void {
    if (this.#isDone || text === "") return;
    this.#isEmpty = false;
    if (text === LAST_DATA) {
      if (!this.endEarly()) throw cutAnswer();
      return;
    }
    const event = jsonOrUndefined(text);
    if (!isRecord(event)) throw brokenAnswer("sent something that is no event of a response");
    this.#check(event, eventName);
    if (!this.#reader.isComplete) this.#reader.read(event);
  }

  /** Throws the error that an event tells. */
  #check(event: JsonObject, eventName?: string): void {
    const { type, error, response } = event;
    if (type === "response.failed" || type === "response.cancelled")
      throw this.#explainFailure(isRecord(response) ? response : {});
    if (type === "error" || (type === undefined && (eventName === "error" || isTold(error)))) {
      const { type: _type, sequence_number: _number, ...bare } = event; // Some servers send the bare error object.
      throw this.#explain(isRecord(error) || typeof error === "string" ? { error } : { error: bare });
    }
  }

  #explainFailure({ error, status }: JsonObject): ModelError {
    if (isRecord(error)) return this.#explain({ error });
    return brokenAnswer(status === "cancelled" ? "cancelled its answer" : "failed without saying why");
  }

  #explain(body: JsonObject): ModelError {
    const { error } = body;
    const status = readStreamErrorStatus(isRecord(error) ? error : body);
    return explainRefusal({ status, headers: {}, body }, this.#context, 0);
  }

  #finish(): void {
    this.#isDone = true;
    this.#reader.finish();
  }
}

/** Whether this is an error: a whole response without one has null. */
function isTold(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false;
}
