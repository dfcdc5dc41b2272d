import { assertNever } from "@antiphon/base/assert.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { SentenceQueue } from "./sentence-queue.ts";
import { SentenceCutter } from "./sentences/sentence-cutter.ts";
import type { Speak } from "./speaker.ts";

type Batch = readonly ModelEvent[];

/**
 * Decorates a model's turn with speech of its messages and refusals. The model's events pass at once and unchanged,
 * with sound events in between. Only `finished` and later events wait for the last sound.
 */
export function speakTurn(turn: AsyncIterable<Batch>, speak: Speak, signal: AbortSignal): AsyncIterable<Batch> {
  return { [Symbol.asyncIterator]: () => new SpokenTurn(turn, speak, signal) };
}

/** One of the two merged streams: its latest batch, and whether the next one was requested. */
class Source {
  readonly #batches: AsyncIterator<Batch>;
  readonly #wake: () => void;
  #state: "idle" | "asked" | "ended" = "idle";
  #ready: { readonly batch: Batch } | { readonly fault: unknown } | null = null;

  constructor(batches: AsyncIterable<Batch>, wake: () => void) {
    this.#batches = batches[Symbol.asyncIterator]();
    this.#wake = wake;
  }

  get isEnded(): boolean {
    return this.#state === "ended" && this.#ready === null;
  }

  ask(): void {
    if (this.#state !== "idle" || this.#ready !== null) return;
    this.#state = "asked";
    void this.#fetch();
  }

  /** The batch that has arrived, or null. Throws the error of the stream. */
  take(): Batch | null {
    const ready = this.#ready;
    this.#ready = null;
    if (ready === null) return null;
    if ("fault" in ready) throw ready.fault;
    return ready.batch;
  }

  async close(): Promise<void> {
    this.#state = "ended";
    this.#ready = null;
    await this.#batches.return?.();
  }

  async #fetch(): Promise<void> {
    try {
      const next = await this.#batches.next();
      this.#settle(next.done === true ? null : { batch: next.value }, next.done === true);
    } catch (fault) {
      this.#settle({ fault }, true);
    }
  }

  #settle(ready: { readonly batch: Batch } | { readonly fault: unknown } | null, isLast: boolean): void {
    if (this.#state === "ended") return; // The stream was closed meanwhile.
    this.#ready = ready;
    this.#state = isLast ? "ended" : "idle";
    this.#wake();
  }
}

class SpokenTurn implements AsyncIterator<Batch> {
  readonly #modelEvents: Source;
  readonly #voiceEvents: Source;
  readonly #sentences = new SentenceQueue();
  readonly #cutter = new SentenceCutter();
  readonly #leaving = new AbortController();
  /** The `finished` event and those after it. */
  readonly #endEvents: ModelEvent[] = [];
  #wake: () => void = () => {};

  constructor(turn: AsyncIterable<Batch>, speak: Speak, signal: AbortSignal) {
    const wake = (): void => this.#wake();
    this.#modelEvents = new Source(turn, wake);
    this.#voiceEvents = new Source(speak(this.#sentences, AbortSignal.any([signal, this.#leaving.signal])), wake);
    signal.addEventListener("abort", () => this.#sentences.end(), { once: true });
  }

  async next(): Promise<IteratorResult<Batch, undefined>> {
    try {
      for (;;) {
        const batch = this.#take();
        if (batch !== null && batch.length > 0) return { value: batch, done: false };
        if (batch !== null) continue;
        if (this.#modelEvents.isEnded && this.#voiceEvents.isEnded) return this.#finish();
        await this.#waitForEither();
      }
    } catch (fault) {
      await this.return();
      throw fault;
    }
  }

  async return(): Promise<IteratorResult<Batch, undefined>> {
    this.#leaving.abort();
    this.#sentences.end();
    this.#endEvents.length = 0;
    await Promise.all([this.#modelEvents.close(), this.#voiceEvents.close()]);
    return { value: undefined, done: true };
  }

  /** The model's events come first. */
  #take(): Batch | null {
    const batch = this.#modelEvents.take();
    if (batch !== null) return this.#forward(batch);
    if (this.#modelEvents.isEnded) this.#endText();
    return this.#voiceEvents.take();
  }

  async #waitForEither(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    this.#modelEvents.ask();
    this.#voiceEvents.ask();
    await promise;
  }

  #finish(): IteratorResult<Batch, undefined> {
    if (this.#endEvents.length === 0) return { value: undefined, done: true };
    return { value: this.#endEvents.splice(0), done: false };
  }

  /** Returns the events that pass at once; delays the others. */
  #forward(batch: Batch): Batch {
    const passing: ModelEvent[] = [];
    for (const event of batch) {
      // Readers of the text need not wait for the sound.
      if (event.type === "finished" && event.reason === "stop") passing.push({ type: "message_finished" });
      if (event.type === "finished" || this.#endEvents.length > 0) this.#endEvents.push(event);
      else passing.push(event);
      this.#passToVoice(event);
    }
    return passing;
  }

  /** Passes the text of an event to the voice. */
  #passToVoice(event: ModelEvent): void {
    switch (event.type) {
      case "text_delta":
        if (event.isCitation !== true) this.#sentences.push(this.#cutter.push(event.text));
        return;
      case "refusal_delta":
        this.#sentences.push(this.#cutter.push(event.text));
        return;
      case "message_started":
      case "message_finished":
      case "call_started":
      case "tool_search":
      case "item_started":
      case "turn_cut":
      case "reasoning_delta":
      case "reasoning_summary_delta":
      case "reasoning_sealed":
        this.#sentences.push(this.#cutter.end());
        return;
      case "finished":
        this.#endText();
        return;
      case "annotation":
      case "stop_sequence":
      case "reasoning_summary_break":
      case "call_delta":
      case "call_finished":
      case "item_delta":
      case "item_written":
      case "item_step":
      case "item_finished":
      case "tool_usage":
      case "compaction":
      case "audio_delta":
      case "audio_transcript_delta":
      case "audio_done":
      case "model_resolved":
      case "usage":
        return;
      default:
        assertNever(event);
    }
  }

  #endText(): void {
    this.#sentences.push(this.#cutter.end());
    this.#sentences.end();
  }
}
