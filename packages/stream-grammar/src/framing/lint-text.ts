import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ChatLinter, isChatData } from "../chat/chat-linter.ts";
import type { Dialect } from "../dialect.ts";
import type { StreamReport } from "../fault-list.ts";
import { isMessagesData, MessagesLinter } from "../messages/messages-linter.ts";
import { StreamLinter } from "../stream-linter.ts";
import { LineCutter } from "./line-cutter.ts";
import { type SseFrame, SseFrames } from "./sse-frames.ts";

/** Server-sent event frames, or recorded lines of one JSON object each. */
type TextForm = "frames" | "lines";

/** Checks a text that arrives in pieces. Its form is detected from its first character. */
export class TextLinter {
  #form: TextForm | null = null;
  readonly #dialect: Dialect | null;
  /** White space before the form is known. */
  #blank = "";
  readonly #lines = new LineCutter();
  #linter: StreamLinter | null = null;
  /** Takes the place of the other if the stream is one of another door. */
  #other: ChatLinter | MessagesLinter | null = null;
  readonly #frames = new SseFrames();
  readonly #reports: StreamReport[] = [];
  #lastId: string | null = null;
  #events = 0;

  /** `dialect`: null if each stream's own events decide. */
  constructor(dialect: Dialect | null = "reference") {
    this.#dialect = dialect;
  }

  /** Reports a fault outside the events, such as a wrong content type. */
  report(...[rule, says]: Parameters<StreamLinter["report"]>): void {
    (this.#other ?? this.#current()).report(rule, says);
  }

  /** Takes the next piece. Throws a RangeError if a frame or line is too long. */
  take(piece: string): void {
    const text = this.#form === null ? this.#blank + piece : piece;
    if (this.#form === null) {
      this.#blank = text;
      if (text.trim() === "") return;
      this.#form = text.trimStart().startsWith("{") ? "lines" : "frames";
    }
    if (this.#form === "frames") for (const frame of this.#frames.take(text)) this.#takeFrame(frame);
    else for (const line of this.#lines.take(text)) this.#takeLine(line);
  }

  /** Reports on each stream of the text. Call this once, after the last piece. */
  end(): readonly StreamReport[] {
    if (this.#form === "lines") this.#takeLine(this.#lines.rest);
    const rest = this.#frames.rest;
    if (rest !== "") this.report("frame-whole", `${JSON.stringify(rest.slice(0, 80))} is not a whole frame`);
    this.#reports.push((this.#other ?? this.#current()).end());
    return this.#reports;
  }

  #current(): StreamLinter {
    this.#linter ??= new StreamLinter(this.#dialect);
    return this.#linter;
  }

  #takeFrame({ name, data, id, faults }: SseFrame): void {
    for (const [rule, says] of faults) this.report(rule, says);
    if (data === null) return;
    const isDone = data.trim() === "[DONE]";
    const event = isDone ? null : jsonOrText(data);
    if (this.#linter === null) this.#other ??= otherLinter(event);
    if (this.#other !== null) return isDone ? this.#other.takeDone() : this.#other.take(name, event);
    if (isDone) return this.report("no-done-mark", "[DONE] is not an event");
    const type = isRecord(event) ? event["type"] : undefined;
    if (typeof type === "string" && type !== name)
      this.report("frame-name", `the event line says ${JSON.stringify(name)}, but the type is ${JSON.stringify(type)}`);
    // Browsers send the id of the last event when they reconnect, so it must identify the position.
    if (id !== null && isRecord(event) && id !== String(event["sequence_number"]))
      this.report("frame-lines", `the id line says ${JSON.stringify(id)}, which is not the event's number`);
    this.#current().take(event);
  }

  /** Recorded lines may hold several streams. Each begins with number 0 and a new response id. */
  #takeLine(line: string): void {
    if (line.trim() === "") return;
    const event = jsonOrText(line);
    if (isRecord(event) && event["type"] === "response.created") {
      const id = isRecord(event["response"]) ? event["response"]["id"] : null;
      const isNext = this.#events > 0 && event["sequence_number"] === 0 && id !== this.#lastId;
      this.#lastId = typeof id === "string" ? id : null;
      if (isNext) {
        this.#reports.push(this.#current().end());
        this.#linter = null;
      }
    }
    this.#events++;
    this.#current().take(event);
  }
}

/** The linter of a stream of another door that begins with this data; null for one of the Responses API. */
function otherLinter(first: unknown): ChatLinter | MessagesLinter | null {
  if (isChatData(first)) return new ChatLinter();
  return isMessagesData(first) ? new MessagesLinter() : null;
}

/** Checks a whole text. */
export function lintText(text: string, dialect: Dialect | null = "reference"): readonly StreamReport[] {
  const linter = new TextLinter(dialect);
  linter.take(text);
  return linter.end();
}
