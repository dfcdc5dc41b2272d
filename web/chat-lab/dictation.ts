import { type AntiphonSpeech, APIConnectionError, APIError, type LocalStt } from "../../src/client/index.ts";
import { type Heard, type Microphone, openMicrophone } from "./microphone.ts";
import { sentenceOf } from "./sentence-of.ts";
import { SpokenAudio } from "./spoken-audio.ts";

/** `listening`: the microphone is open. `finishing`: it is not, and the last words are still to come. */
export type DictationPhase = "off" | "opening" | "listening" | "finishing";

/** What a dictation tells the page. */
export interface DictationView {
  phase(phase: DictationPhase): void;
  /** The peak since the last time, from 0 to 1. */
  level(peak: number): void;
  /** Words that may still change; each replaces the one before it. */
  interim(text: string): void;
  final(text: string): void;
  /** Why the server is waited for; null: it is there. */
  waiting(reason: string | null): void;
  failed(reason: string): void;
}

export interface DictationParts {
  readonly speech: AntiphonSpeech;
  readonly view: DictationView;
  /** Resolves once the server can transcribe; rejects when the signal aborts. */
  readonly serverReady: (signal: AbortSignal) => Promise<void>;
}

const RETRY_MS = 500;
/** Words settle at a pause of this length, if enough was said since they last did. */
const PAUSE_MS = 700;
const SETTLE_MS = 10_000;
const QUIET_PEAK = 0.015;

/** Refusals and failures that pass. */
const PASSING: ReadonlySet<string | null> = new Set([
  "busy",
  "client_too_slow",
  "idle_timeout",
  "model_loading",
  "shutting_down",
  "too_many_streams",
]);

/**
 * From the microphone to words. When the connection breaks, what was said since the last final is kept, and sent again
 * once the server is back.
 */
export class Dictation {
  readonly #parts: DictationParts;
  #phase: DictationPhase = "off";
  #leaving = new AbortController();
  #audio: SpokenAudio | null = null;
  #microphone: Microphone | null = null;
  #interim = "";
  #quietSince: number | null = null;

  constructor(parts: DictationParts) {
    this.#parts = parts;
  }

  get phase(): DictationPhase {
    return this.#phase;
  }

  /** Opens the microphone; nothing if there is a dictation already. */
  async start(): Promise<void> {
    if (this.#phase !== "off") return;
    const { view } = this.#parts;
    this.#leaving = new AbortController();
    this.#enter("opening");
    try {
      this.#microphone = await openMicrophone((heard) => this.#hear(heard));
    } catch (error) {
      this.#enter("off");
      view.failed(`The microphone cannot be used. ${sentenceOf(error)}`);
      return;
    }
    const audio = new SpokenAudio(this.#microphone.sampleRate);
    this.#audio = audio;
    if (this.phase === "opening") this.#enter("listening");
    else this.#closeMicrophone(); // It was stopped meanwhile.
    await this.#transcribe(audio);
    this.#keepInterim();
    this.#closeMicrophone();
    view.waiting(null);
    this.#audio = null;
    this.#enter("off");
  }

  /** Closes the microphone; what was said is still transcribed. */
  stop(): void {
    if (this.#phase !== "opening" && this.#phase !== "listening") return;
    this.#enter("finishing");
    this.#closeMicrophone();
  }

  /** Waits for nothing more. Words that are known stay. */
  giveUp(): void {
    this.#leaving.abort();
    this.stop();
  }

  #closeMicrophone(): void {
    const microphone = this.#microphone;
    if (microphone === null) return;
    this.#microphone = null;
    const audio = this.#audio;
    void microphone.close().finally(() => audio?.end());
    this.#parts.view.level(0);
  }

  #hear(heard: Heard): void {
    if (heard.type === "level") this.#measure(heard.peak);
    if (heard.type !== "samples" || this.#audio === null || this.#audio.isOver) return;
    if (this.#audio.add(heard.samples)) return;
    this.#parts.view.failed(
      "The server has not kept up for minutes, so the microphone was closed. What you said until now is kept.",
    );
    this.stop();
  }

  /** Shows the level, and lets words settle at pauses. */
  #measure(peak: number): void {
    if (this.#phase !== "listening") return;
    this.#parts.view.level(peak);
    if (peak > QUIET_PEAK) this.#quietSince = null;
    else this.#quietSince ??= performance.now();
    const isPause = this.#quietSince !== null && performance.now() - this.#quietSince >= PAUSE_MS;
    if (!isPause || this.#audio === null || this.#audio.openMs < SETTLE_MS) return;
    this.#audio.askForFinal();
    this.#quietSince = null;
  }

  /** Until all of it is transcribed, or cannot be. */
  async #transcribe(audio: SpokenAudio): Promise<void> {
    const { view, serverReady } = this.#parts;
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      try {
        await this.#stream(audio, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error)) return view.failed(`Dictation has ended. ${sentenceOf(error)}`);
        view.waiting(sentenceOf(error));
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      await serverReady(signal).catch(() => undefined);
    }
  }

  async #stream(audio: SpokenAudio, signal: AbortSignal): Promise<void> {
    const stream = await this.#parts.speech.streamTranscription(audio.messages(), { interim: true }, { signal });
    for await (const message of stream) this.#take(message, audio);
  }

  #take(message: LocalStt.SttServerMessage, audio: SpokenAudio): void {
    const { view } = this.#parts;
    switch (message.type) {
      case "hello":
        return view.waiting(null);
      case "ack":
        return audio.acknowledge();
      case "transcript.partial":
        return this.#showInterim(message.text);
      case "transcript.final":
        audio.settle();
        this.#showInterim("");
        return view.final(message.text);
      case "stream.closed":
      case "error":
        return undefined; // The end of the stream ends the loop; an error is thrown by the client.
    }
  }

  #showInterim(text: string): void {
    this.#interim = text;
    this.#parts.view.interim(text);
  }

  #keepInterim(): void {
    const text = this.#interim;
    this.#showInterim("");
    if (text !== "") this.#parts.view.final(text);
  }

  #enter(phase: DictationPhase): void {
    this.#phase = phase;
    this.#parts.view.phase(phase);
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof APIConnectionError || (error instanceof APIError && PASSING.has(error.code));
}
