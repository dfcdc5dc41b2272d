import { StringDecoder } from "node:string_decoder";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { createParser, type EventSourceParser } from "eventsource-parser";
import { brokenAnswer, cutAnswer } from "../../model-server/errors/model-errors.ts";
import type { JsonObject } from "../../model-server/json-values.ts";
import type { UpstreamReply } from "../../model-server/reply/upstream-turn.ts";
import type { MessageReader } from "./message-reader.ts";

/** Maximum size of one SSE event. Long arguments may come as one event. */
const SSE_EVENT_CHARS_MAX = 16 * 1024 * 1024;

/** Turns the bytes of a streamed message into model events. The type of an event is also in its data. */
export class MessageStream implements UpstreamReply {
  readonly #reader: MessageReader;
  readonly #explain: (error: JsonObject) => ModelError;
  readonly #decoder = new StringDecoder("utf8");
  readonly #parser: EventSourceParser;
  #isDone = false;
  #isEmpty = true;

  /** `explain` translates an error within the stream. */
  constructor(reader: MessageReader, explain: (error: JsonObject) => ModelError) {
    this.#reader = reader;
    this.#explain = explain;
    this.#parser = createParser({
      maxBufferSize: SSE_EVENT_CHARS_MAX,
      onEvent: ({ data }) => this.#readData(data),
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
    return this.#reader.hasFinishReason;
  }

  get hasUsage(): boolean {
    return this.#reader.hasUsage;
  }

  get outputTokens(): number {
    return this.#reader.outputTokens;
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
    if (!this.#isDone && this.#reader.hasFinishReason) this.#finish();
    return this.#isDone;
  }

  readWhole(message: JsonObject): void {
    if (isFault(message)) throw this.#explain(message);
    this.#reader.readWhole(message);
    this.#finish();
  }

  take(): ModelEvent[] {
    return this.#reader.take();
  }

  #readData(text: string): void {
    if (this.#isDone || text === "") return;
    const event = jsonOrUndefined(text);
    if (!isRecord(event)) throw brokenAnswer("sent something that is no event of a message");
    if (event["type"] === "ping") return;
    this.#isEmpty = false;
    if (isFault(event)) throw this.#explain(event);
    if (event["type"] === "message_stop") this.#finish();
    else this.#reader.read(event);
  }

  #finish(): void {
    this.#isDone = true;
    this.#reader.finish();
  }
}

function isFault(event: JsonObject): boolean {
  return event["type"] === "error" || isRecord(event["error"]);
}
