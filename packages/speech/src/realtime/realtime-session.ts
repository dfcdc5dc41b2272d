import type { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { ReceiveRealtime, SendRealtime } from "@antiphon/contracts/audio/realtime-events.ts";
import type {
  RealtimeTranscriptionConfig,
  RealtimeUserItem,
  RealtimeSession as SessionBody,
} from "@antiphon/contracts/audio/types.ts";
import { likelyWords, spokenTag } from "../audio-api/spoken-tag.ts";
import { bufferFull, commitOfNothing, newEventId } from "./errors.ts";
import type { HeardPiece, PieceHearing, PieceRequest } from "./ports.ts";
import { changedSettings, type SessionSettings } from "./session-settings.ts";
import { SEMANTIC_PAUSE_MS, SoundIntake, type SoundStep } from "./sound-intake.ts";
import { SpokenTurn } from "./spoken-turn.ts";

/** What a session wants of its driver, in this order. */
export type RealtimeCommand =
  | { readonly type: "send"; readonly event: SendRealtime }
  /** The driver answers with `takePiece` or `failPiece`. At most one piece is heard at a time. */
  | {
      readonly type: "hear";
      readonly samples: Int16Array;
      readonly words: Pick<PieceRequest, "language" | "prompt">;
      /** Whether the turn is over, so that its client waits. */
      readonly isAwaited: boolean;
    }
  /** The client now waits for the piece that is being heard. */
  | { readonly type: "hurry" }
  /** Nobody wants the piece that is being heard any more; the driver does not answer. */
  | { readonly type: "give_up" };

/** Reading stops while more sound than this, two minutes, waits for the engine. */
const WAITING_SAMPLES_MAX = 2 * 60 * 16_000;
/** Reading stops while more items than this wait for their words. */
const WAITING_TURNS_MAX = 200;
const COMMIT_MS_MIN = 100;
/** Without turn detection so much sound may wait for a commit. */
const BUFFER_MINUTES_MAX = 30;
const MS_PER_MINUTE = 60_000;

type SessionFacts = Pick<SessionBody, "id" | "expires_at">;

/** The state machine of one transcription session: events in, commands out, no I/O. */
export class RealtimeSession {
  readonly #facts: SessionFacts;
  readonly #hearing: Pick<PieceHearing, "knowsLanguage" | "model">;
  #settings: SessionSettings;
  readonly #intake: SoundIntake;
  #commands: RealtimeCommand[] = [];
  /** In order; the last one may be open. */
  #turns: SpokenTurn[] = [];
  #open: SpokenTurn | null = null;
  /** The turn whose piece is being heard. */
  #heard: SpokenTurn | null = null;
  #isHurried = false;
  #lastItemId: string | null = null;
  /** Where the sound of the next turn begins if no voice is looked for. */
  #freeMs = 0;

  constructor(facts: SessionFacts, settings: SessionSettings, hearing: Pick<PieceHearing, "knowsLanguage" | "model">) {
    this.#facts = facts;
    this.#settings = settings;
    this.#hearing = hearing;
    this.#intake = new SoundIntake(settings.audio.input);
  }

  /** Whether reading has to pause until waiting work is done. */
  get isBehind(): boolean {
    const samples = this.#turns.reduce((sum, turn) => sum + turn.waitingSamples, 0);
    return samples > WAITING_SAMPLES_MAX || this.#turns.length > WAITING_TURNS_MAX;
  }

  /** The bytes of a second of sound. */
  get bytesPerSecond(): number {
    return this.#intake.bytesPerSecond;
  }

  /** The model that the client names. */
  get model(): string {
    return this.#settings.audio.input.transcription.model ?? "";
  }

  open(): readonly RealtimeCommand[] {
    this.#send({ event_id: newEventId(), type: "session.created", session: this.#body() });
    return this.#takeCommands();
  }

  /** Takes an event other than sound. Throws an `ApiError` if it cannot be done; it then has no effect. */
  receive(event: Exclude<ReceiveRealtime, { type: "input_audio_buffer.append" }>): readonly RealtimeCommand[] {
    switch (event.type) {
      case "session.update":
        this.#configure(event.session);
        break;
      case "input_audio_buffer.commit":
        this.#commitBuffer();
        break;
      case "input_audio_buffer.clear":
        this.#clear();
        break;
      default:
        assertNever(event);
    }
    return this.#proceed();
  }

  /** Adds sound in the format of the session. Throws an `ApiError` if the buffer is full. */
  append(bytes: Uint8Array): readonly RealtimeCommand[] {
    const isManual = this.#settings.audio.input.turn_detection === null;
    if (isManual && this.#intake.bufferedMs >= BUFFER_MINUTES_MAX * MS_PER_MINUTE) throw bufferFull(BUFFER_MINUTES_MAX);
    for (const step of this.#intake.push(bytes)) this.#take(step);
    this.#endWholeSentence();
    return this.#proceed();
  }

  /** The words of the piece that was being heard. */
  takePiece(piece: HeardPiece): readonly RealtimeCommand[] {
    this.#heard?.hear(piece);
    this.#heard = null;
    this.#endWholeSentence();
    return this.#proceed();
  }

  /** The piece that was being heard has no words, so its turn has none. */
  failPiece(fault: ApiError): readonly RealtimeCommand[] {
    this.#heard?.fail(fault);
    this.#heard = null;
    return this.#proceed();
  }

  #configure(config: RealtimeTranscriptionConfig): void {
    const { format, turn_detection: detection } = this.#settings.audio.input;
    this.#settings = changedSettings(this.#settings, config, this.#hearing);
    const { input } = this.#settings.audio;
    const isOther = JSON.stringify([format, detection]) !== JSON.stringify([input.format, input.turn_detection]);
    const pieces = isOther ? this.#intake.configure(input) : [];
    if (pieces.length > 0) this.#openTurn(this.#freeMs).add(pieces);
    this.#send({ event_id: newEventId(), type: "session.updated", session: this.#body() });
  }

  #take(step: SoundStep): void {
    switch (step.type) {
      case "started": {
        const turn = this.#openTurn(step.startMs);
        const audio_start_ms = Math.round(step.startMs);
        this.#send({
          event_id: newEventId(),
          type: "input_audio_buffer.speech_started",
          audio_start_ms,
          item_id: turn.itemId,
        });
        return;
      }
      case "segment":
        return this.#openTurn(this.#freeMs).add([step.samples]);
      case "stopped":
        return this.#stop(step.endMs);
      case "idle":
        return this.#commitSilence(step.startMs, step.endMs);
      default:
        assertNever(step);
    }
  }

  #openTurn(startMs: number): SpokenTurn {
    if (this.#open === null) {
      const showsLogprobs = this.#settings.include.length > 0;
      this.#open = new SpokenTurn(this.#settings.audio.input.transcription, showsLogprobs, startMs);
      this.#turns.push(this.#open);
    }
    return this.#open;
  }

  #stop(endMs: number): void {
    const turn = this.#openTurn(this.#freeMs);
    const audio_end_ms = Math.round(endMs);
    this.#send({
      event_id: newEventId(),
      type: "input_audio_buffer.speech_stopped",
      audio_end_ms,
      item_id: turn.itemId,
    });
    this.#commit(turn, endMs - turn.startMs);
  }

  #commitSilence(startMs: number, endMs: number): void {
    const turn = this.#openTurn(startMs);
    this.#send({
      event_id: newEventId(),
      type: "input_audio_buffer.timeout_triggered",
      audio_start_ms: Math.round(startMs),
      audio_end_ms: Math.round(endMs),
      item_id: turn.itemId,
    });
    this.#commit(turn, endMs - startMs);
  }

  /** semantic_vad: a pause after a whole sentence ends the turn. */
  #endWholeSentence(): void {
    const turn = this.#open;
    if (turn === null || this.#settings.audio.input.turn_detection?.type !== "semantic_vad") return;
    if (this.#intake.pauseMs < SEMANTIC_PAUSE_MS || !turn.isHeard || !turn.endsSentence) return;
    turn.add(this.#intake.cut());
    this.#stop(this.#intake.nowMs);
  }

  #commitBuffer(): void {
    const { bufferedMs } = this.#intake;
    if (bufferedMs < COMMIT_MS_MIN) throw commitOfNothing(bufferedMs, COMMIT_MS_MIN);
    const turn = this.#openTurn(this.#freeMs);
    turn.add(this.#intake.cut());
    this.#commit(turn, bufferedMs);
  }

  #commit(turn: SpokenTurn, lengthMs: number): void {
    const previous_item_id = this.#lastItemId;
    const item_id = turn.itemId;
    this.#lastItemId = item_id;
    this.#open = null;
    this.#freeMs = this.#intake.nowMs;
    turn.commit(Math.round(lengthMs) / 1000);
    const membership = { previous_item_id, item: userItem(item_id) };
    this.#send({ event_id: newEventId(), type: "input_audio_buffer.committed", previous_item_id, item_id });
    this.#send({ event_id: newEventId(), type: "conversation.item.added", ...membership });
    this.#send({ event_id: newEventId(), type: "conversation.item.done", ...membership });
  }

  #clear(): void {
    this.#intake.cut();
    this.#freeMs = this.#intake.nowMs;
    const turn = this.#open;
    if (turn !== null) {
      this.#turns = this.#turns.filter((one) => one !== turn);
      if (this.#heard === turn) this.#commands.push({ type: "give_up" });
      if (this.#heard === turn) this.#heard = null;
      this.#open = null;
    }
    this.#send({ event_id: newEventId(), type: "input_audio_buffer.cleared" });
  }

  /** Sends the words that are known, then asks for the next piece. */
  #proceed(): readonly RealtimeCommand[] {
    this.#sendWords();
    const next = this.#heard === null ? this.#turns.find((turn) => turn.waitingSamples > 0) : undefined;
    const samples = next?.take() ?? null;
    if (next !== undefined && samples !== null) {
      this.#heard = next;
      this.#isHurried = next.isCommitted;
      this.#commands.push({ type: "hear", samples, words: this.#wordsOf(next), isAwaited: next.isCommitted });
    } else if (this.#heard?.isCommitted === true && !this.#isHurried) {
      this.#isHurried = true;
      this.#commands.push({ type: "hurry" });
    }
    return this.#takeCommands();
  }

  /** Words of a turn follow all those of the turn before it. */
  #sendWords(): void {
    for (let turn = this.#turns[0]; turn !== undefined; turn = this.#turns[0]) {
      for (const delta of turn.takeDeltas()) this.#send(delta);
      const end = turn.end();
      if (end === null) return;
      this.#turns.shift();
      this.#send(end);
    }
  }

  #wordsOf({ transcription, tail }: SpokenTurn): Pick<PieceRequest, "language" | "prompt"> {
    const likely = likelyWords(transcription);
    const prompt = tail === null ? likely : [likely, tail].filter((part) => part !== null).join(". ");
    return { language: spokenTag(transcription, this.#hearing), prompt };
  }

  #body(): SessionBody {
    return { type: "transcription", object: "realtime.transcription_session", ...this.#facts, ...this.#settings };
  }

  #send(event: SendRealtime): void {
    this.#commands.push({ type: "send", event });
  }

  #takeCommands(): readonly RealtimeCommand[] {
    const commands = this.#commands;
    this.#commands = [];
    return commands;
  }
}

function userItem(id: string): RealtimeUserItem {
  const content = [{ type: "input_audio" as const }];
  return { id, object: "realtime.item", type: "message", status: "completed", role: "user", content };
}
