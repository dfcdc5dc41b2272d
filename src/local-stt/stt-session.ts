import type { SttClientMessage, SttServerMessage } from "../../generated/local-stt/types.ts";
import { ApiError } from "../base/api-error.ts";
import { assert, assertNever } from "../base/assert.ts";
import type { SpeechSegment } from "../speech/segmenter.ts";
import { AudioIntake } from "./audio-intake.ts";
import { fileFormatOf, isPcm16, readAudio } from "./chunk-audio.ts";
import { brokenMessage, endsWithinSample, fileInsteadOfSamples, unsupportedEncoding } from "./errors.ts";
import { Transcripts } from "./transcripts.ts";

/** What a session asks for; whoever drives it carries these out in their order. */
export type SessionCommand =
  | { readonly type: "send"; readonly message: SttServerMessage }
  /** Answered by `transcribed` with the same number. At most one is asked for at a time. */
  | {
      readonly type: "transcribe";
      readonly part: number;
      readonly samples: Int16Array;
      readonly context: SpeechContext;
      readonly isAwaited: boolean;
    }
  /** Somebody waits for what is being transcribed. */
  | { readonly type: "hurry" }
  /** Answered by `guessed`, unless it is dropped before. */
  | { readonly type: "guess"; readonly samples: Int16Array; readonly context: SpeechContext }
  | { readonly type: "drop_guess" }
  /** The stream is over; the error is the last thing that is said. */
  | { readonly type: "close"; readonly error: ApiError | null };

/** What the engine is told beside the sound. */
export interface SpeechContext {
  /** Null: the engine finds out, or the settings say. */
  readonly language: string | null;
  /** The end of what was said before. */
  readonly prompt: string | null;
}

export interface SessionOptions {
  /** Whether what is known is told before it is asked for. */
  readonly interim: boolean;
  /** When finals are made: where a client asks for one, or at each pause too. */
  readonly finals: "asked" | "at_pauses";
}

/**
 * The language that a client names, as the engine is asked for it. Throws the `ApiError` of one that the engine does
 * not know.
 */
export type ReadLanguage = (named: string | null) => string | null;

/** What the engine made of a part. */
export interface HeardPart {
  readonly text: string;
  readonly language: string | null;
}

/** What is still to be said, in the order of the messages that it answers. */
type Answer =
  | { readonly type: "ack"; readonly receivedBytes: number }
  /** Covers the parts before this one, and the audio up to this time. */
  | { readonly type: "final"; readonly partsEnd: number; readonly endMs: number }
  /** The last one. */
  | { readonly type: "end"; readonly says: readonly SttServerMessage[]; readonly error: ApiError | null };

/** Audio that waits to be transcribed, beyond which no more is read: two minutes. */
const WAITING_SAMPLES_MAX = 2 * 60 * 16_000;
/** Answers that wait for a transcript, beyond which no more is read. */
const WAITING_ANSWERS_MAX = 1000;
/** New sound after which a guess is worth its work: 0.6 s. */
const GUESS_SAMPLES = 9600;

/**
 * One stt-jsonl-v1 stream, whatever carries it: messages in, commands out, without clock or I/O. Speech is cut at
 * pauses and transcribed while audio comes, one part after the other; a final waits for the parts it covers, and what
 * answers later messages waits behind it.
 */
export class SttSession {
  readonly #options: SessionOptions;
  readonly #readLanguage: ReadLanguage;
  readonly #intake = new AudioIntake();
  readonly #transcripts = new Transcripts();
  #commands: SessionCommand[] = [];
  #phase: "receiving" | "ending" | "closed" = "receiving";
  #answers: Answer[] = [];
  /** Segments whose turn to be transcribed has not come, the running one not among them. */
  #waiting: SpeechSegment[] = [];
  #running: number | null = null;
  #isHurried = false;
  #guessing = false;
  #guessedSamples = 0;
  /** What is being spoken, as far as it could be guessed. */
  #guess = "";
  /** The latest that was told. */
  #partial = "";
  /** Where the audio of the latest final that was asked for ends. */
  #coveredMs = 0;
  #finalsAsked = 0;
  /** As the first chunk named it; undefined before that. */
  #named: string | null | undefined;
  #language: string | null = null;

  constructor(options: SessionOptions, readLanguage: ReadLanguage) {
    this.#options = options;
    this.#readLanguage = readLanguage;
  }

  /** False once nothing more is read: after end, after an error, and when the stream is over. */
  get isReceiving(): boolean {
    return this.#phase === "receiving";
  }

  /** Whether reading shall wait until something of what waits is done. */
  get isBehind(): boolean {
    const samples = this.#waiting.reduce((sum, segment) => sum + segment.samples.length, 0);
    return samples > WAITING_SAMPLES_MAX || this.#answers.length > WAITING_ANSWERS_MAX;
  }

  /** How much audio came, in milliseconds. */
  get receivedMs(): number {
    return this.#intake.receivedMs;
  }

  /** How many finals were asked for so far, by the client, by a pause or by an end; not all of them are made yet. */
  get finalsAsked(): number {
    return this.#finalsAsked;
  }

  open(): readonly SessionCommand[] {
    this.#send({ type: "hello", protocol: "stt-jsonl-v1" });
    return this.#take();
  }

  receive(message: SttClientMessage): readonly SessionCommand[] {
    assert(this.#phase === "receiving", "a session that is not receiving is given nothing");
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

  /** The client will say nothing more. What it asked for it still gets; nothing else is transcribed. */
  hangUp(): readonly SessionCommand[] {
    if (this.#phase !== "receiving") return [];
    this.#phase = "ending";
    this.#answers.push({ type: "end", says: [], error: null });
    this.#waiting = this.#waiting.slice(0, Math.max(0, this.#waiting.length - this.#unasked()));
    return this.#proceed();
  }

  /** Something broke that the client is told of. Acknowledged audio gets its final first. */
  fail(error: ApiError): readonly SessionCommand[] {
    if (this.#phase !== "receiving") return [];
    if (this.#intake.receivedMs > this.#coveredMs) this.#answerFinal();
    this.#answers.push({ type: "end", says: [], error });
    this.#phase = "ending";
    return this.#proceed();
  }

  transcribed(part: number, { text, language }: HeardPart): readonly SessionCommand[] {
    if (this.#phase === "closed") return [];
    assert(part === this.#running, "a part that was asked for is answered once");
    this.#running = null;
    this.#isHurried = false;
    this.#guess = "";
    this.#transcripts.add(text, language);
    return this.#proceed();
  }

  /** `text` is that of what was being spoken when it was asked for. */
  guessed(text: string): readonly SessionCommand[] {
    if (!this.#guessing) return [];
    this.#guessing = false;
    this.#guess = text;
    return this.#proceed();
  }

  /** The engine gave up: no final can be made any more. */
  breakOff(error: ApiError): readonly SessionCommand[] {
    if (this.#phase === "closed") return [];
    this.#answers = [];
    this.#waiting = [];
    this.#close([], error);
    return this.#take();
  }

  #receiveChunk(chunk: Extract<SttClientMessage, { type: "chunk" }>): readonly SessionCommand[] {
    if (!isPcm16(chunk.encoding ?? null)) return this.fail(unsupportedEncoding(chunk.encoding ?? ""));
    const fault = this.#takeLanguage(chunk.language ?? null);
    if (fault !== null) return this.fail(fault);
    const audio = readAudio(chunk.audio_base64);
    if (audio instanceof Error) return this.fail(audio);
    const format = this.#intake.receivedBytes === 0 ? fileFormatOf(audio) : null;
    if (format !== null) return this.fail(fileInsteadOfSamples(format));
    const segments = this.#intake.push(audio, chunk.sample_rate ?? null);
    this.#answers.push({ type: "ack", receivedBytes: this.#intake.receivedBytes });
    if (this.#options.finals === "asked") this.#add(segments);
    else for (const segment of segments) this.#askFinal([segment]);
    return chunk.last === true ? this.#end() : this.#proceed();
  }

  /** The first chunk says which language is spoken. */
  #takeLanguage(named: string | null): ApiError | null {
    if (this.#named !== undefined) {
      const isOther = named !== null && named.toLowerCase() !== this.#named?.toLowerCase();
      return isOther ? brokenMessage("only the first chunk may name the language") : null;
    }
    this.#named = named;
    try {
      this.#language = this.#readLanguage(named);
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

  /** These segments, and those before them that no final covers, get one. */
  #askFinal(segments: readonly SpeechSegment[]): void {
    this.#add(segments);
    this.#finalsAsked += 1;
    this.#coveredMs = this.#intake.receivedMs;
    this.#answers.push({ type: "final", partsEnd: this.#transcripts.count + this.#openParts, endMs: this.#coveredMs });
  }

  get #openParts(): number {
    return this.#waiting.length + (this.#running === null ? 0 : 1);
  }

  /** Segments behind those that a final waits for. */
  #unasked(): number {
    const asked = this.#answers.findLast((answer) => answer.type === "final");
    return this.#transcripts.count + this.#openParts - (asked?.partsEnd ?? this.#transcripts.count);
  }

  #add(segments: readonly SpeechSegment[]): void {
    if (segments.length === 0) return;
    this.#waiting.push(...segments);
    this.#dropGuess();
    this.#guessedSamples = 0;
  }

  /** Says what can be said, then asks for what is next. */
  #proceed(): readonly SessionCommand[] {
    this.#settle();
    if (this.#phase !== "closed") this.#dispatch();
    return this.#take();
  }

  #settle(): void {
    for (let answer = this.#answers[0]; answer !== undefined; answer = this.#answers[0]) {
      if (answer.type === "final" && this.#transcripts.count < answer.partsEnd) return;
      this.#answers.shift();
      if (answer.type === "ack") this.#send({ type: "ack", received_bytes: answer.receivedBytes });
      else if (answer.type === "final") this.#sendFinal(answer.partsEnd, answer.endMs);
      else this.#close(answer.says, answer.error);
    }
    this.#tell();
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

  /** Tells what is known since the latest final, if that is new and nothing else is still to be said. */
  #tell(): void {
    if (!this.#options.interim || this.#phase !== "receiving" || this.#answers.length > 0) return;
    const text = this.#transcripts.partial(this.#guess);
    if (text === "" || text === this.#partial) return;
    this.#partial = text;
    this.#send({ type: "transcript.partial", text });
  }

  #send(message: SttServerMessage): void {
    this.#commands.push({ type: "send", message });
  }

  #take(): readonly SessionCommand[] {
    const commands = this.#commands;
    this.#commands = [];
    return commands;
  }
}
