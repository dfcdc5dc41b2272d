import type { HostedItem } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

type Batch = readonly ModelEvent[];

/** The maximum characters of events that wait behind an unfinished call before reading from the model pauses. */
export const LINE_CHARACTERS_MAX = 16 * 1024 * 1024;
/** Assumed size of an event without its text, in characters. */
const EVENT_CHARACTERS = 64;

/** One place in the line: the model's output between two calls, or one call. */
export interface LinePlace {
  add(...events: readonly ModelEvent[]): void;
  /** Ends this place. */
  close(): void;
  /** Resolves once everything added is read, but at once if other places are in front. */
  read(): Promise<void>;
  /** Like `read`, but waits for room in the line if other places are in front. */
  room(): Promise<void>;
}

/**
 * Sorts the events of many places into the order of the places, so that a reader sees one item after the other while
 * several calls run. Events of the front place pass at once; the others wait.
 */
export class CallLine {
  readonly #places: Place[] = [];
  readonly #charactersMax: number;
  #waitingCharacters = 0;
  #isEnded = false;
  #fault: { readonly fault: unknown } | null = null;
  #wakeReader: () => void = () => {};
  readonly #writers: (() => void)[] = [];

  constructor(charactersMax = LINE_CHARACTERS_MAX) {
    this.#charactersMax = charactersMax;
  }

  /** Takes the last place of the line. */
  take(): LinePlace {
    const place: Place = { events: [], isClosed: false };
    this.#places.push(place);
    return {
      add: (...events) => this.#add(place, events),
      close: () => {
        place.isClosed = true;
        this.#wakeReader();
      },
      read: () => this.#until(() => !this.#isAtFront(place)),
      room: () =>
        this.#until(() =>
          this.#places[0] === place ? place.events.length === 0 : this.#waitingCharacters <= this.#charactersMax,
        ),
    };
  }

  /** The reader gets the waiting events, and then the end. */
  end(): void {
    this.#isEnded = true;
    this.#wakeReader();
  }

  /** The reader gets the events at the front, and then the fault. */
  fail(fault: unknown): void {
    this.#fault = { fault };
    this.end();
  }

  /** All events in order. Call it once. */
  async *read(): AsyncGenerator<Batch, void> {
    for (;;) {
      const batch = this.#takeFront();
      if (batch.length > 0) yield batch;
      else if (this.#isEnded) break;
      else await this.#waitForAddition();
    }
    if (this.#fault !== null) throw this.#fault.fault;
  }

  #add(place: Place, events: Batch): void {
    if (this.#isEnded) return;
    place.events.push(...events);
    for (const event of events) this.#waitingCharacters += eventSize(event);
    this.#wakeReader();
  }

  /** The events that can be read now: those of the front, and of the places behind it as far as it is closed. */
  #takeFront(): Batch {
    const batch: ModelEvent[] = [];
    for (let [front] = this.#places; front !== undefined; [front] = this.#places) {
      for (const event of front.events) this.#waitingCharacters -= eventSize(event);
      batch.push(...front.events.splice(0));
      if (!front.isClosed) break;
      this.#places.shift();
    }
    for (const wake of this.#writers.splice(0)) wake();
    return batch;
  }

  async #until(isFree: () => boolean): Promise<void> {
    while (!this.#isEnded && !isFree()) await new Promise<void>((wake) => this.#writers.push(wake));
  }

  /** Whether the reader is at this place and has not read all of its events. */
  #isAtFront(place: Place): boolean {
    return this.#places[0] === place && place.events.length > 0;
  }

  #waitForAddition(): Promise<void> {
    return new Promise((wake) => {
      this.#wakeReader = wake;
    });
  }

  /** The reader has left: writers need not wait any more. */
  leave(): void {
    this.#isEnded = true;
    for (const wake of this.#writers.splice(0)) wake();
  }
}

interface Place {
  readonly events: ModelEvent[];
  isClosed: boolean;
}

function eventSize(event: ModelEvent): number {
  if ("text" in event) return EVENT_CHARACTERS + event.text.length;
  if (event.type === "item_finished") return EVENT_CHARACTERS + resultSizeOf(event.item);
  if (event.type === "item_step" && event.step.type === "partial_image")
    return EVENT_CHARACTERS + event.step.partial_image_b64.length;
  return EVENT_CHARACTERS;
}

/** The characters of a call's result, as far as the item shows it. */
function resultSizeOf(item: HostedItem): number {
  if (item.type === "image_generation_call") return item.result?.length ?? 0;
  let size = 0;
  if (item.type === "code_interpreter_call")
    for (const output of item.outputs ?? []) size += output.type === "logs" ? output.logs.length : output.url.length;
  if (item.type === "shell_call_output")
    for (const { stdout, stderr } of item.output) size += stdout.length + stderr.length;
  return size;
}
