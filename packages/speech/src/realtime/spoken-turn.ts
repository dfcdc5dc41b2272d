import type { ApiError } from "@antiphon/base/api-error.ts";
import { newId } from "@antiphon/base/ids.ts";
import type { SendRealtime } from "@antiphon/contracts/audio/realtime-events.ts";
import type { AudioLogprob, RealtimeTranscription } from "@antiphon/contracts/audio/types.ts";
import { newEventId } from "./errors.ts";
import type { HeardPiece } from "./ports.ts";
import { isLiveModel } from "./session-settings.ts";

/** Enough context to continue a sentence, but little text that the engine could repeat by mistake. */
const TAIL_CHARACTERS_MAX = 200;
/** The end of a sentence, with closing quotes or brackets. */
const SENTENCE_END = /[.?!。？！][\p{Pe}\p{Pf}"']*$/u;

type Delta = Extract<SendRealtime, { type: "conversation.item.input_audio_transcription.delta" }>;

/** One turn of a speaker: its pieces wait for the engine, and its words for the client. */
export class SpokenTurn {
  readonly itemId = newId("item", Math.floor(Date.now() / 1000));
  readonly transcription: RealtimeTranscription;
  readonly startMs: number;
  readonly #showsLogprobs: boolean;
  #pieces: Int16Array[] = [];
  #isHearing = false;
  #text = "";
  #language: string | null = null;
  #logprobs: AudioLogprob[] = [];
  #waiting: Delta[] = [];
  #fault: ApiError | null = null;
  #seconds: number | null = null;

  constructor(transcription: RealtimeTranscription, showsLogprobs: boolean, startMs: number) {
    this.transcription = transcription;
    this.#showsLogprobs = showsLogprobs;
    this.startMs = startMs;
  }

  get isCommitted(): boolean {
    return this.#seconds !== null;
  }

  /** Whether all pieces so far are heard. */
  get isHeard(): boolean {
    return !this.#isHearing && this.#pieces.length === 0;
  }

  get endsSentence(): boolean {
    return SENTENCE_END.test(this.#text);
  }

  get waitingSamples(): number {
    return this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** The last words, if a sentence goes on; null otherwise. */
  get tail(): string | null {
    if (this.#text === "" || this.endsSentence) return null;
    const end = this.#text.slice(-TAIL_CHARACTERS_MAX);
    return end.length < this.#text.length ? end.slice(end.indexOf(" ") + 1) : end;
  }

  add(pieces: readonly Int16Array[]): void {
    if (this.#fault === null) this.#pieces.push(...pieces);
  }

  /** The next piece, which is then being heard; null if there is none. */
  take(): Int16Array | null {
    const piece = this.#pieces.shift() ?? null;
    this.#isHearing = piece !== null;
    return piece;
  }

  hear({ text, language, logprobs }: HeardPiece): void {
    this.#isHearing = false;
    if (text.trim() === "") return;
    const delta = this.#text === "" ? text.trim() : ` ${text.trim()}`;
    this.#text += delta;
    this.#language ??= language;
    this.#logprobs.push(...logprobs);
    this.#waiting.push({
      event_id: newEventId(),
      type: "conversation.item.input_audio_transcription.delta",
      item_id: this.itemId,
      content_index: 0,
      delta,
      ...(this.#showsLogprobs ? { logprobs: [...logprobs] } : {}),
    });
  }

  /** Gives the turn up: no more of it is heard. */
  fail(fault: ApiError): void {
    this.#fault = fault;
    this.#isHearing = false;
    this.#pieces = [];
  }

  /** Ends the turn. `seconds`: its length. */
  commit(seconds: number): void {
    this.#seconds = seconds;
  }

  /** The words that may be sent now. */
  takeDeltas(): readonly Delta[] {
    const isLive = this.transcription.delay !== undefined || isLiveModel(this.transcription.model);
    return isLive || this.isCommitted ? this.#waiting.splice(0) : [];
  }

  /** The last event of the turn, once it is committed and heard; null before. */
  end(): SendRealtime | null {
    if (this.#seconds === null || !this.isHeard) return null;
    const common = { event_id: newEventId(), item_id: this.itemId, content_index: 0 };
    if (this.#fault !== null) {
      const { type, code, message } = this.#fault;
      const error = { type, code: code ?? type, message };
      return { ...common, type: "conversation.item.input_audio_transcription.failed", error };
    }
    return {
      ...common,
      type: "conversation.item.input_audio_transcription.completed",
      transcript: this.#text,
      ...(this.#language === null ? {} : { languages: [{ code: this.#language }] }),
      ...(this.#showsLogprobs ? { logprobs: this.#logprobs } : {}),
      usage: { type: "duration", seconds: this.#seconds },
    };
  }
}
