import { ApiError } from "@antiphon/base/api-error.ts";
import { assert, assertNever } from "@antiphon/base/assert.ts";
import type { SttClientMessage, SttServerMessage } from "@antiphon/contracts/local-stt/types.ts";
import type { SpeechSegment } from "../recognition/segmenter.ts";
import { AudioIntake } from "./audio-intake.ts";
import { decodeChunkAudio, fileFormatOf, isPcm16 } from "./chunk-audio.ts";
import { brokenMessage, endsWithinSample, fileInsteadOfSamples, unsupportedEncoding } from "./errors.ts";
import { Transcripts } from "./transcripts.ts";

/** Commands of a session to its driver, in this order. */
export type SessionCommand =
  | { readonly type: "send"; readonly message: SttServerMessage }
  /** The driver replies with `transcribed` and the same part number. At most one part is transcribed at a time. */
  | {
      readonly type: "transcribe";
      readonly part: number;
      readonly samples: Int16Array;
      readonly context: SpeechContext;
      readonly isAwaited: boolean;
    }
  /** The client now waits for the part that is being transcribed. */
  | { readonly type: "hurry" }
  /** The driver replies with `guessed`, unless `drop_guess` comes first. */
  | { readonly type: "guess"; readonly samples: Int16Array; readonly context: SpeechContext }
  | { readonly type: "drop_guess" }
  /** Ends the stream. The error, if any, is its last message. */
  | { readonly type: "close"; readonly error: ApiError | null };

/** What the engine gets besides the sound. */
export interface SpeechContext {
  /** A BCP 47 tag; if null, the settings or the engine decide. */
  readonly language: string | null;
  /** The end of the preceding transcript. */
  readonly prompt: string | null;
}

export interface SessionOptions {
  /** Whether partial transcripts are sent. */
  readonly interim: boolean;
  /** When finals are made: only on request, or also at each pause. */
  readonly finals: "asked" | "at_pauses";
}

/** Translates a client's language to that of engine requests. Throws an `ApiError` if the engine does not know it. */
export type ReadLanguage = (languageName: string | null) => string | null;

/** The transcript of a part. */
export interface PartTranscript {
  readonly text: string;
  readonly language: string | null;
}

/** A reply that is not sent yet. Replies keep the order of the messages that they answer. */
type Answer =
  | { readonly type: "ack"; readonly receivedBytes: number }
  /** Covers the parts before `partsEnd` and the audio before `endMs`. */
  | { readonly type: "final"; readonly partsEnd: number; readonly endMs: number }
  /** The last reply of the stream. */
  | { readonly type: "end"; readonly says: readonly SttServerMessage[]; readonly error: ApiError | null };

/** Reading stops while more audio than this, two minutes, waits to be transcribed. */
const WAITING_SAMPLES_MAX = 2 * 60 * 16_000;
/** Reading stops while more replies than this wait for a transcript. */
const WAITING_ANSWERS_MAX = 1000;
/** How much new sound makes another guess worthwhile: 0.6 s. */
const GUESS_SAMPLES = 9600;

/**
 * The state machine of one speech stream, on any transport: messages in, commands out, no clock and no I/O. Speech is
 * cut at pauses and transcribed part by part while audio arrives. A final waits for its parts, and later replies wait
 * for the final.
 */
export class SttSession {
  readonly #options: SessionOptions;
  readonly #readLanguage: ReadLanguage;
  readonly #intake = new AudioIntake();
  readonly #transcripts = new Transcripts();
  #commands: SessionCommand[] = [];
  #phase: "receiving" | "ending" | "closed" = "receiving";
  #answers: Answer[] = [];
  /** Segments that wait to be transcribed, without the running one. */
  #waiting: SpeechSegment[] = [];
  #running: number | null = null;
  #isHurried = false;
  #guessing = false;
  #guessedSamples = 0;
  /** The latest guess at the words that are being spoken. */
  #guess = "";
  /** The latest partial transcript that was sent. */
  #partial = "";
  /** End of the audio covered by the latest requested final. */
  #coveredMs = 0;
  #finalsAsked = 0;
  /** The language of the first chunk; undefined before the first chunk. */
  #languageName: string | null | undefined;
  #language: string | null = null;

  constructor(options: SessionOptions, readLanguage: ReadLanguage) {
    this.#options = options;
    this.#readLanguage = readLanguage;
  }

  /** False after `end`, after an error and after the stream: nothing more is read. */
  get isReceiving(): boolean {
    return this.#phase === "receiving";
  }

  /** Whether reading has to pause until waiting work is done. */
  get isBehind(): boolean {
    const samples = this.#waiting.reduce((sum, segment) => sum + segment.samples.length, 0);
    return samples > WAITING_SAMPLES_MAX || this.#answers.length > WAITING_ANSWERS_MAX;
  }

  /** Length of the received audio, in milliseconds. */
  get receivedMs(): number {
    return this.#intake.receivedMs;
  }

  /** The number of finals requested so far, by the client, a pause or the end. Some may be pending. */
  get finalsAsked(): number {
    return this.#finalsAsked;
  }

  open(): readonly SessionCommand[] {
    this.#send({ type: "hello", protocol: "stt-jsonl-v1" });
    return this.#takeCommands();
  }

  receive(message: SttClientMessage): readonly SessionCommand[] {
    assert(this.#phase === "receiving", "only a receiving session gets messages");
    switch (message.type) {
      case "chunk":
        return this.#receiveChunk(message);
      case "flush":
        this.#answerFinal();
        return this.#proceed();
      case "end":
        return this.#end();
      default:
        return assertNever(message);
    }
  }

  /** The client's messages ended without `end`. It still gets its requested finals; nothing else is transcribed. */
  hangUp(): readonly SessionCommand[] {
    if (this.#phase !== "receiving") return [];
    this.#phase = "ending";
    this.#answers.push({ type: "end", says: [], error: null });
    this.#waiting = this.#waiting.slice(0, Math.max(0, this.#waiting.length - this.#uncoveredParts()));
    return this.#proceed();
  }

  /** Ends the stream with an error for the client. Audio that no final covers yet gets its final first. */
  fail(error: ApiError): readonly SessionCommand[] {
    if (this.#phase !== "receiving") return [];
    if (this.#intake.receivedMs > this.#coveredMs) this.#answerFinal();
    this.#answers.push({ type: "end", says: [], error });
    this.#phase = "ending";
    return this.#proceed();
  }

  takeTranscript(part: number, { text, language }: PartTranscript): readonly SessionCommand[] {
    if (this.#phase === "closed") return [];
    assert(part === this.#running, "only the running part is transcribed");
    this.#running = null;
    this.#isHurried = false;
    this.#guess = "";
    this.#transcripts.add(text, language);
    return this.#proceed();
  }

  /** `text` transcribes the speech that was open when the guess was requested. */
  takeGuess(text: string): readonly SessionCommand[] {
    if (!this.#guessing) return [];
    this.#guessing = false;
    this.#guess = text;
    return this.#proceed();
  }

  /** Ends the stream at once with an error: no more finals can be made. */
  breakOff(error: ApiError): readonly SessionCommand[] {
    if (this.#phase === "closed") return [];
    this.#answers = [];
    this.#waiting = [];
    this.#close([], error);
    return this.#takeCommands();
  }

  #receiveChunk(chunk: Extract<SttClientMessage, { type: "chunk" }>): readonly SessionCommand[] {
    if (!isPcm16(chunk.encoding ?? null)) return this.fail(unsupportedEncoding(chunk.encoding ?? ""));
    const fault = this.#takeLanguage(chunk.language ?? null);
    if (fault !== null) return this.fail(fault);
    const audio = decodeChunkAudio(chunk.audio_base64);
    if (audio instanceof Error) return this.fail(audio);
    const format = this.#intake.receivedBytes === 0 ? fileFormatOf(audio) : null;
    if (format !== null) return this.fail(fileInsteadOfSamples(format));
    const segments = this.#intake.push(audio, chunk.sample_rate ?? null);
    this.#answers.push({ type: "ack", receivedBytes: this.#intake.receivedBytes });
    if (this.#options.finals === "asked") this.#add(segments);
    else for (const segment of segments) this.#askFinal([segment]);
    return chunk.last === true ? this.#end() : this.#proceed();
  }

  /** The first chunk sets the language of the stream. */
  #takeLanguage(languageName: string | null): ApiError | null {
    if (this.#languageName !== undefined) {
      const isOther = languageName !== null && languageName.toLowerCase() !== this.#languageName?.toLowerCase();
      return isOther ? brokenMessage("only the first chunk may name the language") : null;
    }
    this.#languageName = languageName;
    try {
      this.#language = this.#readLanguage(languageName);
      return null;
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  get #context(): SpeechContext {
    return { language: this.#language, prompt: this.#transcripts.tail };
  }

  #end(): readonly SessionCommand[] {
    if (this.#intake.isWithinSample) return this.fail(endsWithinSample());
    this.#answerFinal();
    this.#answers.push({ type: "end", says: [{ type: "stream.closed" }], error: null });
    this.#phase = "ending";
    return this.#proceed();
  }

  #answerFinal(): void {
    this.#askFinal(this.#intake.cut());
  }

  /** Requests a final for these segments and for all earlier ones that no final covers. */
  #askFinal(segments: readonly SpeechSegment[]): void {
    this.#add(segments);
    this.#finalsAsked += 1;
    this.#coveredMs = this.#intake.receivedMs;
    this.#answers.push({ type: "final", partsEnd: this.#transcripts.count + this.#openParts, endMs: this.#coveredMs });
  }

  get #openParts(): number {
    return this.#waiting.length + (this.#running === null ? 0 : 1);
  }

  /** How many segments no requested final covers. */
  #uncoveredParts(): number {
    const lastFinal = this.#answers.findLast((answer) => answer.type === "final");
    return this.#transcripts.count + this.#openParts - (lastFinal?.partsEnd ?? this.#transcripts.count);
  }

  #add(segments: readonly SpeechSegment[]): void {
    if (segments.length === 0) return;
    this.#waiting.push(...segments);
    this.#dropGuess();
    this.#guessedSamples = 0;
  }

  /** Sends the replies that are ready, then requests the next work. */
  #proceed(): readonly SessionCommand[] {
    this.#sendReadyAnswers();
    if (this.#phase !== "closed") this.#dispatch();
    return this.#takeCommands();
  }

  #sendReadyAnswers(): void {
    for (let answer = this.#answers[0]; answer !== undefined; answer = this.#answers[0]) {
      if (answer.type === "final" && this.#transcripts.count < answer.partsEnd) return;
      this.#answers.shift();
      if (answer.type === "ack") this.#send({ type: "ack", received_bytes: answer.receivedBytes });
      else if (answer.type === "final") this.#sendFinal(answer.partsEnd, answer.endMs);
      else this.#close(answer.says, answer.error);
    }
    this.#sendPartial();
  }

  #sendFinal(partsEnd: number, endMs: number): void {
    this.#partial = "";
    this.#send({ type: "transcript.final", ...this.#transcripts.final(partsEnd, Math.round(endMs)) });
  }

  #close(says: readonly SttServerMessage[], error: ApiError | null): void {
    this.#dropGuess();
    this.#phase = "closed";
    for (const message of says) this.#send(message);
    this.#commands.push({ type: "close", error });
  }

  #dispatch(): void {
    const isAwaited = this.#answers.some((answer) => answer.type === "final");
    if (this.#running !== null) {
      if (isAwaited && !this.#isHurried) this.#commands.push({ type: "hurry" });
      this.#isHurried ||= isAwaited;
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) {
      this.#running = this.#transcripts.count;
      this.#isHurried = isAwaited;
      const { samples } = next;
      this.#commands.push({ type: "transcribe", part: this.#running, samples, context: this.#context, isAwaited });
    } else if (this.#options.interim && !this.#guessing && this.#phase === "receiving") this.#askForGuess();
  }

  #askForGuess(): void {
    const samples = this.#intake.open;
    if (samples === null || samples.length < this.#guessedSamples + GUESS_SAMPLES) return;
    this.#guessing = true;
    this.#guessedSamples = samples.length;
    this.#commands.push({ type: "guess", samples, context: this.#context });
  }

  #dropGuess(): void {
    if (!this.#guessing) return;
    this.#guessing = false;
    this.#commands.push({ type: "drop_guess" });
  }

  /** Sends a partial transcript of the text since the latest final, if it is new and no reply is waiting. */
  #sendPartial(): void {
    if (!this.#options.interim || this.#phase !== "receiving" || this.#answers.length > 0) return;
    const text = this.#transcripts.partial(this.#guess);
    if (text === "" || text === this.#partial) return;
    this.#partial = text;
    this.#send({ type: "transcript.partial", text });
  }

  #send(message: SttServerMessage): void {
    this.#commands.push({ type: "send", message });
  }

  #takeCommands(): readonly SessionCommand[] {
    const commands = this.#commands;
    this.#commands = [];
    return commands;
  }
}
