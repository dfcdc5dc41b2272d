import { once } from "node:events";
import { type SendRealtime, sendRealtimeTypes } from "@antiphon/contracts/audio/realtime-events.ts";
import * as validators from "@antiphon/contracts/audio/validators.js";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { Resampler } from "@antiphon/speech/audio/resampler.ts";
import { expect, onTestFinished } from "vitest";
import { WebSocket } from "ws";

export type RealtimeEvent<Type extends SendRealtime["type"] = SendRealtime["type"]> = Extract<
  SendRealtime,
  { type: Type }
>;

const VALIDATORS: Readonly<Record<SendRealtime["type"], (value: unknown) => boolean>> = {
  "session.created": validators.validateRealtimeSessionCreated,
  "session.updated": validators.validateRealtimeSessionUpdated,
  "input_audio_buffer.speech_started": validators.validateRealtimeSpeechStarted,
  "input_audio_buffer.speech_stopped": validators.validateRealtimeSpeechStopped,
  "input_audio_buffer.timeout_triggered": validators.validateRealtimeTimeoutTriggered,
  "input_audio_buffer.committed": validators.validateRealtimeCommitted,
  "input_audio_buffer.cleared": validators.validateRealtimeCleared,
  "conversation.item.added": validators.validateRealtimeItemAdded,
  "conversation.item.done": validators.validateRealtimeItemDone,
  "conversation.item.input_audio_transcription.delta": validators.validateRealtimeTranscriptDelta,
  "conversation.item.input_audio_transcription.completed": validators.validateRealtimeTranscriptCompleted,
  "conversation.item.input_audio_transcription.failed": validators.validateRealtimeTranscriptFailed,
  error: validators.validateRealtimeErrorEvent,
};

/** A client without library, which checks each event against the contract. */
export class RealtimeClient {
  readonly socket: WebSocket;
  readonly events: SendRealtime[] = [];
  readonly closed: Promise<number>;
  #read = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.on("message", (bytes: Buffer) => this.events.push(checkedEvent(JSON.parse(bytes.toString()))));
  }

  /** An event, or a text or bytes that are none. */
  send(event: object | string): void {
    this.socket.send(typeof event === "string" || Buffer.isBuffer(event) ? event : JSON.stringify(event));
  }

  /** The settings of the audio input. */
  configure(input: object, members: object = {}): void {
    this.send({ type: "session.update", session: { type: "transcription", audio: { input }, ...members } });
  }

  /** Sends sound in pieces of this many bytes. */
  say(bytes: Uint8Array, bytesEach = 9_601): void {
    for (let start = 0; start < bytes.length; start += bytesEach) this.append(bytes.subarray(start, start + bytesEach));
  }

  append(bytes: Uint8Array): void {
    this.send({ type: "input_audio_buffer.append", audio: Buffer.from(bytes).toString("base64") });
  }

  commit(): void {
    this.send({ type: "input_audio_buffer.commit" });
  }

  /** The next event. */
  async next(): Promise<SendRealtime> {
    while (this.events.length <= this.#read) await once(this.socket, "message");
    const event = this.events[this.#read];
    this.#read += 1;
    if (event === undefined) throw new Error("there is an event");
    return event;
  }

  /** The next event of this type; those before it are skipped. */
  async until<Type extends SendRealtime["type"]>(type: Type): Promise<RealtimeEvent<Type>> {
    for (;;) {
      const event = await this.next();
      if (isOfType(event, type)) return event;
    }
  }

  /** The transcript of the next item. */
  async transcript(): Promise<string> {
    return (await this.until("conversation.item.input_audio_transcription.completed")).transcript;
  }
}

function isOfType<Type extends SendRealtime["type"]>(event: SendRealtime, type: Type): event is RealtimeEvent<Type> {
  return event.type === type;
}

function checkedEvent(value: SendRealtime): SendRealtime {
  expect(sendRealtimeTypes).toContain(value.type);
  const isValid = VALIDATORS[value.type](value);
  expect(isValid, `${JSON.stringify(value)} is as the contract says`).toBe(true);
  return value;
}

export interface RealtimeOptions {
  readonly apiKey?: string;
  readonly search?: string;
  readonly protocols?: readonly string[];
}

/** Opens a session; it is closed when the test ends. Rejects with the status of a refused upgrade. */
export async function openRealtime(
  url: string,
  { apiKey, search = "?intent=transcription", protocols = [] }: RealtimeOptions = {},
): Promise<RealtimeClient> {
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/realtime${search}`, [...protocols], { headers });
  const client = new RealtimeClient(socket);
  onTestFinished(() => socket.terminate());
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("unexpected-response", (request, { statusCode }) => {
      request.destroy();
      reject(Object.assign(new Error(`the upgrade was refused with ${statusCode}`), { status: statusCode }));
    });
  });
  return client;
}

/** Samples at 16,000 per second as bytes of another rate. */
export function pcmAt(rateHz: number, samples: Int16Array): Uint8Array {
  const resampler = new Resampler(16_000, rateHz);
  return Buffer.concat([pcmBytes(resampler.push(samples)), pcmBytes(resampler.end())]);
}
