import { isRecord } from "@antiphon/base/json/records.ts";
import { type Dialect, dialectOf, toReferenceEvent } from "./dialect.ts";
import { findMemberFaults, isAboutItem, nameOfType } from "./event-members.ts";
import { FaultList, type StreamNote, type StreamReport } from "./fault-list.ts";
import { SOUND_GRAMMAR, STREAM_GRAMMAR } from "./grammar.ts";
import { Items } from "./items/items.ts";
import { quoteValue } from "./items/texts.ts";
import { textOf } from "./items/values.ts";
import { OrderChecker } from "./order-checker.ts";
import type { Note } from "./rules.ts";

type Members = Readonly<Record<string, unknown>>;

const NOTES_MAX = 20;
const LIFECYCLE: ReadonlySet<string> = new Set([
  "created",
  "queued",
  "in_progress",
  "completed",
  "incomplete",
  "failed",
]);
const ENDINGS: ReadonlySet<string> = new Set(["completed", "incomplete", "failed"]);

/** Checks one stream, event by event. */
export class StreamLinter {
  readonly #faults = new FaultList();
  readonly #notes: StreamNote[] = [];
  readonly #order = new OrderChecker(STREAM_GRAMMAR.get("stream"), "stream-order");
  readonly #sound = new OrderChecker(SOUND_GRAMMAR.get("sound"), "sound-order");
  readonly #items = new Items();
  #hasSound = false;
  #nextNumber = 0;
  /** A keep-alive may have its own number or share that of the next event. */
  #mayRepeatNumber = false;
  #responseId: string | null = null;
  #hasEnded = false;
  #dialect: Dialect | null;

  /** `dialect`: null if the first event that only one of them has decides. */
  constructor(dialect: Dialect | null = "reference") {
    this.#dialect = dialect;
  }

  /** Reports a broken rule at the current event, or at the next one between events. */
  readonly report = this.#faults.report;

  readonly #note: Note = (note, says) => {
    if (this.#notes.length < NOTES_MAX)
      this.#notes.push({ note, event: this.#faults.events, type: this.#faults.type, says });
  };

  /** Takes one event, as parsed JSON. */
  take(event: unknown): void {
    const type = isRecord(event) && typeof event["type"] === "string" ? event["type"] : null;
    this.#faults.type = type;
    if (isRecord(event) && type !== null) this.#checkTyped(type, event);
    else {
      this.report("event-json", `${quoteValue(event)} is not an object with a type`);
      this.#nextNumber++;
    }
    this.#faults.endEvent();
  }

  /** Call this once, after the last event. */
  end(): StreamReport {
    if (!this.#hasEnded) this.report("one-ending", "the stream ends before the response does");
    return { ...this.#faults.streamReport(this.#responseId), notes: this.#notes };
  }

  #checkTyped(type: string, event: Members): void {
    const itemType = this.#items.typeAt(event["output_index"]);
    this.#dialect ??= dialectOf(type);
    const referenceEvent = this.#dialect === "extension" ? toReferenceEvent(type, event, itemType) : event;
    if (referenceEvent === null) {
      this.#checkNumber(event, false);
      this.report("known-type", `the extension dialect has no ${type} here`);
    } else this.#checkEvent(textOf(referenceEvent["type"]), referenceEvent);
  }

  #checkEvent(type: string, event: Members): void {
    const name = nameOfType(type);
    this.#checkNumber(event, name === "keepalive");
    if (name !== null && name !== "error" && Object.hasOwn(event, "error"))
      this.report("error-member", `'error' is a member of ${type}`);
    if (name === null) this.report("known-type", `'${type}' is not an event type`);
    else if (this.#hasEnded) this.#checkLate(type, name);
    else {
      for (const fault of findMemberFaults(name, event)) this.report("event-members", fault);
      this.#checkStreamOrder(name, event);
      this.#checkContents(name, event);
    }
  }

  #checkLate(type: string, name: string): void {
    if (ENDINGS.has(name)) this.report("one-ending", `${type} comes after the response has ended`);
    else this.report("nothing-after-ending", `${type} comes after the response has ended`);
  }

  #checkContents(name: string, event: Members): void {
    if (LIFECYCLE.has(name)) this.#checkSnapshot(name, isRecord(event["response"]) ? event["response"] : {});
    else if (isAboutItem(name)) this.#items.take(name, event, this.report);
    else if (name.startsWith("audio.")) {
      this.#hasSound = true;
      this.#sound.take(name, this.report);
    } else if (name === "error" && isRecord(event["error"])) this.#checkError(event["error"]);
  }

  #checkNumber(event: Members, isKeepAlive: boolean): void {
    const number = event["sequence_number"];
    const isRepeated = this.#mayRepeatNumber && number === this.#nextNumber - 1;
    if (number !== this.#nextNumber && !isRepeated)
      this.report("sequence-number", `'sequence_number' is ${quoteValue(number)}, but should be ${this.#nextNumber}`);
    this.#mayRepeatNumber = isKeepAlive;
    this.#nextNumber = (typeof number === "number" ? number : this.#nextNumber) + 1;
  }

  #checkStreamOrder(name: string, event: Members): void {
    if (name === "keepalive" && this.#faults.events > 0) return;
    if (LIFECYCLE.has(name)) {
      const status = isRecord(event["response"]) ? event["response"]["status"] : undefined;
      this.#order.take(`${name}<${textOf(status)}>`, this.report);
    } else this.#order.take(name === "error" || name === "keepalive" ? name : "inside", this.report);
  }

  #checkSnapshot(name: string, response: Members): void {
    const { id, output, usage } = response;
    if (typeof id !== "string" || id === "") this.report("response-id", `'response.id' is ${quoteValue(id)}`);
    else if (this.#responseId !== null && id !== this.#responseId)
      this.report("response-id", `'response.id' is ${quoteValue(id)}, but was ${quoteValue(this.#responseId)}`);
    else this.#responseId = id;
    if (ENDINGS.has(name)) {
      this.#hasEnded = true;
      this.#items.checkEnded(this.report, this.#note);
      this.#items.checkOutput(output, this.report);
      if (this.#hasSound && this.#sound.isUnfinished) this.report("sound-order", "the audio has not ended");
    } else {
      if (!Array.isArray(output) || output.length > 0) this.report("first-snapshot", "'response.output' is not []");
      if (usage !== null) this.report("first-snapshot", "'response.usage' is not null");
    }
  }

  #checkError(error: Members): void {
    for (const member of ["type", "code", "message", "param"])
      if (!Object.hasOwn(error, member)) this.report("event-members", `'error.${member}' is missing`);
  }
}

/** Checks the events of one stream. */
export function lintEvents(events: Iterable<unknown>, dialect: Dialect | null = "reference"): StreamReport {
  const linter = new StreamLinter(dialect);
  for (const event of events) linter.take(event);
  return linter.end();
}
