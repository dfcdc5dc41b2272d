import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "@antiphon/base/json/records.ts";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { WebSocket } from "ws";
import { BYTES_PER_MS } from "./spoken-sound.ts";

const CHUNK_MS = 100;
/** The last part of the sound is sent at the pace of speech. */
const REAL_TIME_MS = 5000;

export interface Streamed {
  /** From sending `end` to the final transcript, in milliseconds. */
  readonly waitMs: number;
  /** From the first byte to the final transcript, in milliseconds. */
  readonly wholeMs: number;
  readonly text: string;
}

/** Sends everything without pauses, so that only processing takes time. */
export const AT_ONCE = Number.POSITIVE_INFINITY;

/**
 * Streams sound over WebSocket in chunks of 100 ms. All but the last five seconds are sent `pace` times as fast as
 * speech, to save time: a server that cannot keep up has more left to do at the end than with live speech, never less.
 */
export async function streamSound(url: string, samples: Int16Array, pace: number): Promise<Streamed> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws/transcribe`);
  const { promise: final, resolve, reject } = Promise.withResolvers<{ text: string; atMs: number }>();
  socket.on("message", (bytes: Buffer) => {
    const message: unknown = JSON.parse(bytes.toString());
    if (!isRecord(message)) return;
    if (message["type"] === "transcript.final")
      resolve({ text: String(message["full_text"]), atMs: performance.now() });
    if (message["type"] === "error") reject(new Error(`the stream failed: ${String(message["message"])}`));
  });
  socket.on("error", reject);
  const closed = once(socket, "close").then(() => reject(new Error("the stream closed before its words came")));
  await once(socket, "open");
  const startMs = performance.now();
  await sendPaced(socket, pcmBytes(samples), pace);
  const endMs = performance.now();
  socket.send(JSON.stringify({ type: "end" }));
  const { text, atMs } = await final;
  await closed;
  return { waitMs: atMs - endMs, wholeMs: atMs - startMs, text };
}

async function sendPaced(socket: WebSocket, bytes: Uint8Array, pace: number): Promise<void> {
  const chunkBytes = CHUNK_MS * BYTES_PER_MS;
  const realFrom = bytes.length - REAL_TIME_MS * BYTES_PER_MS;
  let dueMs = performance.now();
  for (let place = 0; place < bytes.length; place += chunkBytes) {
    // A chunk is complete when its sound is over. At full speed there is no wait, because even a wait of 0 takes a
    // millisecond.
    if (pace !== AT_ONCE) {
      dueMs += place >= realFrom ? CHUNK_MS : CHUNK_MS / pace;
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    const audio = Buffer.from(bytes.subarray(place, place + chunkBytes)).toString("base64");
    socket.send(JSON.stringify({ type: "chunk", audio_base64: audio }));
  }
}
