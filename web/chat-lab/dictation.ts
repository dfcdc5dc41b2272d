import { type AntiphonSpeech, APIConnectionError, APIError, type LocalStt } from "../../packages/client/src/index.ts";
import { type Heard, type Microphone, openMicrophone } from "./microphone.ts";
import { sentenceOf } from "./sentence-of.ts";
import { SpokenAudio } from "./spoken-audio.ts";

/** In `listening` the microphone is open. In `finishing` it is closed, and the last words are being transcribed. */
export type DictationPhase = "off" | "opening" | "listening" | "finishing";

/** What a dictation shows on the page. */
export interface DictationView {
  phase(phase: DictationPhase): void;
  /** The peak since the last call, from 0 to 1. */
  level(peak: number): void;
  /** Words that may still change. Each call replaces the text of the one before. */
  interim(text: string): void;
  final(text: string): void;
  /** What was said is not wanted. Comes before the phase `off`. */
  discarded(): void;
  /** Why the dictation waits for the server; null when it no longer waits. */
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
/** A pause this long asks for a final transcript, if at least `SETTLE_MS` of audio have none yet. */
const PAUSE_MS = 700;
const SETTLE_MS = 10_000;
const QUIET_PEAK = 0.015;

/** Codes of temporary errors. */
const TEMPORARY_CODES: ReadonlySet<string | null> = new Set([
  "busy",
  "client_too_slow",
  "idle_timeout",
  "model_loading",
  "shutting_down",
  "too_many_streams",
]);

/**
 * Transcribes the microphone. When the connection breaks, the audio since the last final is kept, and sent again once
 * the server is back.
 */
export class Dictation {
  readonly #parts: DictationParts;
  #phase: DictationPhase = "off";
  #leaving = new AbortController();
  #audio: SpokenAudio | null = null;
  #microphone: Microphone | null = null;
  #interim = "";
  #isDiscarded = false;
  #quietSince: number | null = null;

  constructor(parts: DictationParts) {
    this.#parts = parts;
  }

  get phase(): DictationPhase {
    return this.#phase;
  }

  /** Whether the latest dictation was discarded. */
  get isDiscarded(): boolean {
    return this.#isDiscarded;
  }

  /** Opens the microphone, unless a dictation is running. */
  async start(): Promise<void> {
    if (this.#phase !== "off") return;
    const { view } = this.#parts;
    this.#leaving = new AbortController();
    this.#isDiscarded = false;
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
    else this.#closeMicrophone(); // Stopped while the microphone was being opened.
    await this.#transcribe(audio);
    if (this.#isDiscarded) view.discarded();
    else this.#keepInterim();
    this.#closeMicrophone();
    view.waiting(null);
    this.#audio = null;
    this.#enter("off");
  }

  /** Closes the microphone. What was said is still transcribed. */
  stop(): void {
    if (this.#phase !== "opening" && this.#phase !== "listening") return;
    this.#enter("finishing");
    this.#closeMicrophone();
  }

  /** Closes the microphone; where it is closed already, no longer waits for the last words. Known words stay. */
  accept(): void {
    if (this.#phase === "finishing") this.#leaving.abort();
    else this.stop();
  }

  /** Ends the dictation, and takes back what was said in it. */
  discard(): void {
    if (this.#phase === "off") return;
    this.#isDiscarded = true;
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
      "The microphone was closed because the server is several minutes behind. What you said until now is kept.",
    );
    this.stop();
  }

  /** Shows the level, and asks for a final transcript at pauses. */
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

  /** Streams until all audio is transcribed, or cannot be. Reconnects after temporary errors. */
  async #transcribe(audio: SpokenAudio): Promise<void> {
    const { view, serverReady } = this.#parts;
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      try {
        await this.#stream(audio, signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!isTemporary(error)) return view.failed(`Dictation has ended. ${sentenceOf(error)}`);
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
        return undefined; // The client ends the loop with the stream, and throws the error.
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

function isTemporary(error: unknown): boolean {
  return error instanceof APIConnectionError || (error instanceof APIError && TEMPORARY_CODES.has(error.code));
}
