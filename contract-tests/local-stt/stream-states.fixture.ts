import { RATE_HZ, spokenBase64 } from "../../tests/speech/slow-sound.ts";
import type { State } from "./provider-states.fixture.ts";

/** The states that choose a transport, by transport. */
export const TRANSPORTS = { NDJSON: "a connection of lines", WebSocket: "a connection of frames" } as const;

export const THREE = { type: "chunk", audio_base64: spokenBase64("three", 300), sample_rate: RATE_HZ } as const;

interface StreamSetting {
  readonly server: State;
  readonly search?: string;
  /** Messages sent before the pact's. The server answers each with one message. */
  readonly said?: readonly object[];
  /** A message that has no reply of its own. The next reply is the pact's. */
  readonly sent?: object | string | Uint8Array;
  /** Sent again and again, with the replies unread, until the server ends the stream. */
  readonly unread?: readonly object[];
  /** True if the server stops once the stream is open. */
  readonly isStopped?: boolean;
  /** True if the pact's reply is the first message of the stream. */
  readonly isOpening?: boolean;
}

const HEARS = "a model that hears tones";
const CHUNK_BYTES_MAX = 1024 * 1024;

export const STREAM_STATES = {
  "a stream that is being opened": { server: HEARS, isOpening: true },
  "a stream that was just opened": { server: HEARS },
  "a stream on which three was said": { server: HEARS, said: [THREE] },
  "a stream on which three was said and heard": { server: HEARS, said: [THREE, { type: "flush" }] },
  "a stream with interim words": { server: HEARS, search: "?interim=true" },
  "a stream whose engine fails, on which three was said": {
    server: "an engine that fails on every recording",
    said: [THREE],
  },
  "a stream that is silent for too long": { server: "streams that may be silent for a moment only" },
  "a stream with a chunk of more than 1 MiB": {
    server: HEARS,
    sent: { type: "chunk", audio_base64: Buffer.alloc(CHUNK_BYTES_MAX + 2).toString("base64") },
  },
  "a stream with a text that is no JSON": { server: HEARS, sent: '{"type": "chu' },
  "a stream with a frame of bytes": { server: HEARS, sent: new Uint8Array(320) },
  "a stream whose client does not read": {
    server: "an engine that hears a long speech in everything",
    unread: [THREE, { type: "flush" }],
  },
  "a stream whose server stops": { server: "an engine that fails on every recording", isStopped: true },
} as const satisfies Readonly<Record<string, StreamSetting>>;

export type StreamState = keyof typeof STREAM_STATES;

export function streamSettingOf(state: string): StreamSetting {
  const setting = Object.entries(STREAM_STATES).find(([name]) => name === state)?.[1];
  if (setting === undefined) throw new Error(`no setup exists for the state '${state}'`);
  return setting;
}
