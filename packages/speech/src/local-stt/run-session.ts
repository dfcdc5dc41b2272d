import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { SttClientMessage, SttServerMessage } from "@antiphon/contracts/local-stt/types.ts";
import { logSpeechFailure } from "../recognition/log-speech-failure.ts";
import { type SpeechEngine, SpeechError, type Transcript, transcriptWarning } from "../recognition/speech-engine.ts";
import { clientTooSlow, streamIdle } from "./errors.ts";
import { MessageQueue } from "./message-queue.ts";
import { speechFault } from "./speech-faults.ts";
import type { SpeechObserver } from "./speech-observer.ts";
import { spokenLanguage } from "./spoken-language.ts";
import type { StreamPlaces } from "./stream-places.ts";
import { jsonLines, type StreamProtocol } from "./stream-protocol.ts";
import { type SessionCommand, SttSession } from "./stt-session.ts";

export interface SessionParts {
  readonly speech: SpeechEngine;
  readonly places: StreamPlaces;
  readonly observer: SpeechObserver;
  /** How long a client may send nothing, in milliseconds. */
  readonly idleMs: number;
}

/** The request of one stream. */
export interface StreamCall {
  readonly requestId: string;
  readonly log: Logger;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The request of a stt-jsonl-v1 stream. */
export interface StreamRequest extends StreamCall {
  readonly transport: "ndjson" | "websocket";
  readonly interim: boolean;
}

/** The pause before a busy engine is called again. */
const BUSY_RETRY_MS = 250;
/** Never aborts, because no client waits for a guess. */
const NEVER = new AbortController().signal;

/**
 * Starts a stt-jsonl-v1 stream like `runStream`, and logs the error that ends it. An invalid line is logged with the
 * text required by the specification.
 */
export function runSession(
  parts: SessionParts,
  messages: AsyncIterable<unknown>,
  request: StreamRequest,
): AsyncIterable<SttServerMessage> {
  const { transport, interim, log, requestId } = request;
  const onEnd = (error: ApiError | null): void => {
    if (error === null) return;
    if (error.code === "invalid_message" && transport === "ndjson")
      log.warn({ requestId }, "ValueError: audio_base64 is required");
    else log.warn({ requestId, reason: error.code }, "an error ended a stream");
  };
  return runStream({ ...parts, protocol: jsonLines(interim), onEnd }, messages, request);
}

export interface ProtocolParts<Message> extends SessionParts {
  readonly protocol: StreamProtocol<Message>;
  /** Called when the session ends, but not if the client disconnects first. */
  readonly onEnd?: (error: ApiError | null) => void;
}

/**
 * Starts a stream and returns the messages to send. Their iteration throws the `ApiError` that ends the stream. Throws
 * an `ApiError` if no stream can be opened.
 */
export function runStream<Message extends object>(
  parts: ProtocolParts<Message>,
  messages: AsyncIterable<unknown>,
  call: StreamCall,
): AsyncIterable<Message> {
  return new SessionDriver(parts, messages[Symbol.asyncIterator](), call).begin();
}

type Command<Type extends SessionCommand["type"]> = Extract<SessionCommand, { readonly type: Type }>;
type Question = Pick<Command<"guess">, "samples" | "context"> & { readonly isGuess: boolean };

/** Drives a session: feeds it messages and transcripts, and executes its commands. */
class SessionDriver<Message extends object> {
  readonly #parts: ProtocolParts<Message>;
  readonly #messages: AsyncIterator<unknown>;
  readonly #request: StreamCall;
  readonly #session: SttSession;
  readonly #queue: MessageQueue<Message>;
  readonly #stopping = new AbortController();
  readonly #giveBackPlace: () => void;
  readonly #onClose: () => void;
  /** Aborts the running guess. */
  #guess = new AbortController();
  /** Aborts when the client starts to wait for the part that is being transcribed. */
  #hurry = new AbortController();
  /** Request times of the pending finals. */
  #askedAt: number[] = [];
  /** Resumes reading when the session has caught up. */
  #resumeReading: () => void = () => {};

  constructor(parts: ProtocolParts<Message>, messages: AsyncIterator<unknown>, request: StreamCall) {
    this.#parts = parts;
    this.#messages = messages;
    this.#request = request;
    this.#session = new SttSession(parts.protocol, (languageName) => spokenLanguage(languageName, parts.speech));
    this.#queue = new MessageQueue(() => this.#stop());
    this.#giveBackPlace = parts.places.take();
    this.#onClose = parts.observer.streamOpened();
  }

  begin(): AsyncIterable<Message> {
    const { signal } = this.#request;
    const leave = (): void => this.#end(signal.reason instanceof ApiError ? signal.reason : null);
    signal.addEventListener("abort", leave, { once: true });
    this.#stopping.signal.addEventListener("abort", () => signal.removeEventListener("abort", leave), { once: true });
    if (signal.aborted) leave();
    this.#perform(this.#session.open());
    this.#read().catch((error: unknown) => this.#end(error));
    return this.#queue;
  }

  async #read(): Promise<void> {
    while (this.#session.isReceiving && !this.#stopping.signal.aborted) {
      if (this.#session.isBehind) {
        await new Promise<void>((resolve) => {
          this.#resumeReading = resolve;
        });
        continue;
      }
      const message = await this.#nextMessage().catch((error: unknown) => this.#breakOff(error));
      if (this.#stopping.signal.aborted) return;
      if (message === null) this.#perform(this.#session.hangUp());
      else if (message !== undefined) this.#receive(message);
    }
  }

  #receive(message: SttClientMessage): void {
    const before = this.#session.receivedMs;
    this.#ask(() => this.#session.receive(message));
    this.#parts.observer.audioReceived(this.#session.receivedMs - before);
  }

  /** Takes a step of the session, and records the time of each final that it requests. */
  #ask(step: () => readonly SessionCommand[]): void {
    const before = this.#session.finalsAsked;
    const commands = step();
    for (let count = before; count < this.#session.finalsAsked; count += 1) this.#askedAt.push(performance.now());
    this.#perform(commands);
  }

  /** Handles an error of reading: an invalid message, an idle client or a broken connection. */
  #breakOff(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const fault = this.#parts.protocol.faultOf(error);
    if (fault === null) {
      this.#request.log.debug({ err: error, requestId: this.#request.requestId }, "connection of a stream broke");
      return this.#perform(this.#session.hangUp());
    }
    this.#ask(() => this.#session.fail(fault));
  }

  /** The next message; null at the end. Throws if it is invalid or does not arrive in time. */
  async #nextMessage(): Promise<SttClientMessage | null> {
    for (;;) {
      const next = await this.#nextValue();
      if (next.done === true) return null;
      const message = this.#parts.protocol.read(next.value);
      if (message !== null) return message;
    }
  }

  async #nextValue(): Promise<IteratorResult<unknown, unknown>> {
    const { idleMs } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<unknown, unknown>>();
    const timer = setTimeout(() => reject(streamIdle(idleMs)), idleMs);
    const stop = (): void => resolve({ done: true, value: undefined });
    this.#stopping.signal.addEventListener("abort", stop, { once: true });
    this.#messages.next().then(resolve, reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#stopping.signal.removeEventListener("abort", stop);
    }
  }

  #perform(commands: readonly SessionCommand[]): void {
    for (const command of commands) this.#carryOut(command);
    if (!this.#session.isBehind) this.#resumeReading();
    if (!this.#queue.isFull || this.#stopping.signal.aborted) return;
    this.#queue.clear();
    this.#perform(this.#session.breakOff(clientTooSlow()));
  }

  #carryOut(command: SessionCommand): void {
    switch (command.type) {
      case "send":
        return this.#send(command.message);
      case "transcribe":
        return void this.#transcribe(command);
      case "guess":
        return void this.#makeGuess(command);
      case "drop_guess":
        return this.#guess.abort(new Error("the guess is outdated"));
      case "close":
        this.#parts.onEnd?.(command.error);
        return this.#end(command.error === null ? null : this.#parts.protocol.endOf(command.error));
      case "hurry":
        return this.#hurry.abort();
      default:
        assertNever(command);
    }
  }

  #send(message: SttServerMessage): void {
    if (message.type === "transcript.final")
      this.#parts.observer.finalMade(performance.now() - (this.#askedAt.shift() ?? performance.now()));
    const frame = this.#parts.protocol.write(this.#withWarning(message));
    if (frame !== null) this.#queue.add(frame);
  }

  #withWarning(message: SttServerMessage): SttServerMessage {
    const warning = transcriptWarning(this.#parts.speech.status());
    return message.type !== "transcript.final" || warning === null ? message : { ...message, warning };
  }

  async #transcribe({ part, isAwaited, ...speech }: Command<"transcribe">): Promise<void> {
    const { signal } = this.#stopping;
    this.#hurry = new AbortController();
    if (isAwaited) this.#hurry.abort();
    try {
      const transcript = await this.#askEngine({ ...speech, isGuess: false }, this.#hurry.signal, signal);
      this.#perform(this.#session.takeTranscript(part, transcript));
    } catch (error) {
      if (signal.aborted) return;
      logSpeechFailure(this.#request, error);
      if (error instanceof SpeechError) this.#perform(this.#session.breakOff(speechFault(error)));
      else this.#end(error);
    }
  }

  /** A failed guess is ignored. */
  async #makeGuess(speech: Command<"guess">): Promise<void> {
    this.#guess = new AbortController();
    const { signal } = this.#guess;
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    const transcript = await this.#askEngine({ ...speech, isGuess: true }, NEVER, either).catch(() => null);
    if (!either.aborted) this.#perform(this.#session.takeGuess(transcript?.text ?? ""));
  }

  /** Retries while the engine is busy; meanwhile the audio waits here. */
  async #askEngine(
    { samples, context, isGuess }: Question,
    hurry: AbortSignal,
    signal: AbortSignal,
  ): Promise<Transcript> {
    const request = { ...context, isGuess, caller: this.#request.requestId, hurried: hurry, signal };
    for (;;) {
      try {
        const urgency = hurry.aborted ? "awaited" : "ahead";
        return await this.#parts.speech.transcribe(samples, { ...request, urgency });
      } catch (error) {
        if (signal.aborted || !(error instanceof SpeechError) || error.reason !== "busy") throw error;
        await sleep(BUSY_RETRY_MS, undefined, { signal });
      }
    }
  }

  #end(error: unknown): void {
    this.#queue.end(error);
    this.#stop();
  }

  #stop(): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort(new Error("the stream is over"));
    this.#resumeReading();
    this.#messages.return?.().catch((error: unknown) => {
      this.#request.log.debug(
        { err: error, requestId: this.#request.requestId },
        "closing the messages of a stream failed",
      );
    });
    this.#giveBackPlace();
    this.#onClose();
  }
}
