import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import { newId } from "@antiphon/base/ids.ts";
import type { SendRealtime } from "@antiphon/contracts/audio/realtime-events.ts";
import type { RealtimeTranscriptionConfig } from "@antiphon/contracts/audio/types.ts";
import { speechNotSetUp } from "../audio-api/errors.ts";
import { hearingFault } from "../audio-api/hear-recording.ts";
import { MessageQueue } from "../local-stt/message-queue.ts";
import { logSpeechFailure } from "../recognition/log-speech-failure.ts";
import { SpeechError } from "../recognition/speech-engine.ts";
import {
  audioNotBase64,
  eventsUnread,
  intentMissing,
  intentNotOffered,
  realtimeErrorEvent,
  sessionExpired,
  sessionIdle,
} from "./errors.ts";
import type { HeardPiece, PieceHearing, PieceRequest, RealtimeCall, RealtimeParts } from "./ports.ts";
import { eventIdOf, readRealtimeEvent } from "./read-event.ts";
import { type RealtimeCommand, RealtimeSession } from "./realtime-session.ts";
import { changedSettings, initialSettings, type SessionSettings } from "./session-settings.ts";

const SESSION_MINUTES_MAX = 60;
/** The largest event of a client: 15 MiB of sound in base64, and the rest of it. */
export const REALTIME_EVENT_BYTES_MAX = 16 * 1024 * 1024;

const TEXT_PARAMETER = { kind: "string", array: false, required: false, aliases: [] } as const;
/** The query of the address. */
export const REALTIME_QUERY = { intent: TEXT_PARAMETER, model: TEXT_PARAMETER, call_id: TEXT_PARAMETER };
const MS_PER_MINUTE = 60_000;
/** The pause before a busy engine is called again. */
const BUSY_RETRY_MS = 250;
const DEFAULT_MODEL = "whisper-1";

/** Runs a session. Its iteration yields the events to send, and throws the `ApiError` that ends the session. */
export async function* runRealtime(
  parts: RealtimeParts,
  events: AsyncIterable<unknown>,
  call: RealtimeCall,
): AsyncGenerator<SendRealtime> {
  const { pieces } = parts;
  if (pieces === null) throw speechNotSetUp();
  const settings = openingSettings(call.query, call.settings(), pieces);
  const session = new RealtimeSession(newSessionFacts(), settings, pieces);
  yield* new RealtimeDriver({ ...parts, pieces, session }, events[Symbol.asyncIterator](), call).begin();
}

/** The settings by address and client secret. Throws an `ApiError` for sessions of other kinds. */
export function openingSettings(
  { intent, model, call_id: callId }: RealtimeCall["query"],
  settings: RealtimeTranscriptionConfig | null,
  pieces: PieceHearing,
): SessionSettings {
  if (typeof callId === "string") throw intentNotOffered("call_id", callId);
  if (typeof intent === "string" && intent !== "transcription") throw intentNotOffered("intent", intent);
  if (intent === undefined && settings === null) throw intentMissing();
  const name = typeof model === "string" && model !== "" ? model : (pieces.model() ?? DEFAULT_MODEL);
  const initial = initialSettings(name);
  return settings === null ? initial : changedSettings(initial, settings, pieces);
}

/** The facts of a session that begins now. */
export function newSessionFacts(): { readonly id: string; readonly expires_at: number } {
  const now = Math.floor(Date.now() / 1000);
  return { id: newId("sess", now), expires_at: now + SESSION_MINUTES_MAX * 60 };
}

interface DriverParts extends RealtimeParts {
  readonly pieces: PieceHearing;
  readonly session: RealtimeSession;
}

/** Drives a session: feeds it events and words, and carries out its commands. */
class RealtimeDriver {
  readonly #parts: DriverParts;
  readonly #session: RealtimeSession;
  readonly #events: AsyncIterator<unknown>;
  readonly #call: RealtimeCall;
  readonly #queue = new MessageQueue<SendRealtime>(() => this.#stop());
  readonly #stopping = new AbortController();
  /** Aborts when nobody wants the piece that is being heard. */
  #unwanted = new AbortController();
  /** Aborts when the client starts to wait for it. */
  #hurry = new AbortController();
  /** Resumes reading when the session has caught up. */
  #resumeReading: () => void = () => {};

  constructor(parts: DriverParts, events: AsyncIterator<unknown>, call: RealtimeCall) {
    this.#parts = parts;
    this.#session = parts.session;
    this.#events = events;
    this.#call = call;
  }

  /** Throws an `ApiError` if there is no place for the session. */
  begin(): AsyncIterable<SendRealtime> {
    const giveBackPlace = this.#parts.takePlace();
    const { signal } = this.#call;
    const leave = (): void => this.#end(signal.reason instanceof ApiError ? signal.reason : null);
    signal.addEventListener("abort", leave, { once: true });
    const expiry = setTimeout(
      () => this.#end(sessionExpired(SESSION_MINUTES_MAX)),
      SESSION_MINUTES_MAX * MS_PER_MINUTE,
    );
    this.#stopping.signal.addEventListener("abort", () => {
      signal.removeEventListener("abort", leave);
      clearTimeout(expiry);
      giveBackPlace();
    });
    if (signal.aborted) leave();
    this.#perform(this.#session.open());
    this.#read().catch((error: unknown) => this.#end(error));
    return this.#queue;
  }

  async #read(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (this.#session.isBehind) {
        await new Promise<void>((resolve) => {
          this.#resumeReading = resolve;
        });
        continue;
      }
      const next = await this.#nextEvent();
      if (next === null || this.#stopping.signal.aborted) return this.#end(null);
      if ("fault" in next) this.#tell(next.fault, null);
      else await this.#receive(next.value);
    }
  }

  /** The next event; null at the end. Throws if reading is over. */
  async #nextEvent(): Promise<{ readonly value: unknown } | { readonly fault: ApiError } | null> {
    const { idleMs } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<unknown, unknown>>();
    const timer = setTimeout(() => reject(sessionIdle(idleMs)), idleMs);
    const stop = (): void => resolve({ done: true, value: undefined });
    this.#stopping.signal.addEventListener("abort", stop, { once: true });
    this.#events.next().then(resolve, reject);
    try {
      const next = await promise;
      return next.done === true ? null : { value: next.value };
    } catch (error) {
      if (error instanceof ApiError && UNREADABLE.has(error.status)) return { fault: error };
      throw error;
    } finally {
      clearTimeout(timer);
      this.#stopping.signal.removeEventListener("abort", stop);
    }
  }

  async #receive(value: unknown): Promise<void> {
    try {
      const event = readRealtimeEvent(value);
      if (event.type === "input_audio_buffer.append") await this.#append(decodedAudio(event.audio));
      else this.#perform(this.#session.receive(event));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#tell(error, eventIdOf(value));
    }
  }

  /** Adds sound second by second, so that nobody else waits for long. */
  async #append(bytes: Uint8Array): Promise<void> {
    const { bytesPerSecond } = this.#session;
    for (let start = 0; start < bytes.length; start += bytesPerSecond) {
      if (start > 0) await nextTurn();
      if (this.#stopping.signal.aborted) return;
      this.#perform(this.#session.append(bytes.subarray(start, start + bytesPerSecond)));
    }
  }

  /** An error that does not end the session. */
  #tell(error: ApiError, eventId: string | null): void {
    this.#perform([{ type: "send", event: realtimeErrorEvent(error, eventId) }]);
  }

  #perform(commands: readonly RealtimeCommand[]): void {
    for (const command of commands) this.#carryOut(command);
    if (!this.#session.isBehind) this.#resumeReading();
    if (!this.#queue.isFull || this.#stopping.signal.aborted) return;
    this.#queue.clear();
    this.#end(eventsUnread());
  }

  #carryOut(command: RealtimeCommand): void {
    switch (command.type) {
      case "send":
        return this.#send(command.event);
      case "hear":
        return void this.#hear(command);
      case "hurry":
        return this.#hurry.abort();
      case "give_up":
        return this.#unwanted.abort(new Error("the sound was cleared"));
      default:
        assertNever(command);
    }
  }

  #send(event: SendRealtime): void {
    if (event.type === "conversation.item.input_audio_transcription.completed")
      this.#call.onHeard(event.usage.seconds, this.#session.model);
    this.#queue.add(event);
  }

  async #hear({ samples, words, isAwaited }: Extract<RealtimeCommand, { type: "hear" }>): Promise<void> {
    this.#hurry = new AbortController();
    this.#unwanted = new AbortController();
    if (isAwaited) this.#hurry.abort();
    const signal = AbortSignal.any([this.#unwanted.signal, this.#stopping.signal]);
    const request = { ...words, caller: this.#call.requestId, hurried: this.#hurry.signal, signal };
    try {
      const piece = await this.#askEngine(samples, request, this.#hurry.signal);
      if (!signal.aborted) this.#perform(this.#session.takePiece(piece));
    } catch (error) {
      if (signal.aborted) return;
      logSpeechFailure(this.#call, error);
      const fault = hearingFault(error);
      if (fault instanceof ApiError) this.#perform(this.#session.failPiece(fault));
      else this.#end(error);
    }
  }

  /** Asks again while the engine is busy; meanwhile the sound waits here. */
  async #askEngine(
    samples: Int16Array,
    request: Omit<PieceRequest, "urgency">,
    hurry: AbortSignal,
  ): Promise<HeardPiece> {
    for (;;) {
      try {
        return await this.#parts.pieces.hearPiece(samples, {
          ...request,
          urgency: hurry.aborted ? "awaited" : "ahead",
        });
      } catch (error) {
        if (request.signal.aborted || !(error instanceof SpeechError) || error.reason !== "busy") throw error;
        await sleep(BUSY_RETRY_MS, undefined, { signal: request.signal });
      }
    }
  }

  #end(error: unknown): void {
    this.#queue.end(error);
    this.#stop();
  }

  #stop(): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort(new Error("the session is over"));
    this.#resumeReading();
    this.#events.return?.().catch((error: unknown) => {
      const { log, requestId } = this.#call;
      log.debug({ err: error, requestId }, "closing the events of a session failed");
    });
  }
}

/** After messages that are no JSON text, later ones can still be read. */
const UNREADABLE: ReadonlySet<number> = new Set([400, 415]);

const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/;

function decodedAudio(base64: string): Uint8Array {
  if (base64.length % 4 !== 0 || !ALPHABET.test(base64)) throw audioNotBase64();
  return Buffer.from(base64, "base64");
}
