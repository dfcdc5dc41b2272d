import { MatchersV3 } from "@pact-foundation/pact";
import { RATE_HZ, spokenBase64 } from "../../tests/speech/slow-sound.ts";
import type { Exchange } from "../exchange-pact.fixture.ts";
import { type StreamState, THREE, TRANSPORTS } from "./stream-states.fixture.ts";

const { regex, string } = MatchersV3;

interface StreamExchange extends Omit<Exchange, "given"> {
  readonly given: StreamState;
  /** All transports by default. */
  readonly over?: readonly (keyof typeof TRANSPORTS)[];
}

const CLOSED = { type: "stream.closed" };
const ACK = { type: "ack", received_bytes: 9600 };
const FINAL = { type: "transcript.final", text: "three", full_text: "three", seq: 0, start_ms: 0, end_ms: 600 };
const EMPTY = { ...FINAL, text: "", full_text: "", end_ms: 0 };

function error(code: string, message: unknown = string("A sentence.")): object {
  return { type: "error", code, message };
}

const OPEN = "a stream that was just opened";
const SAID = "a stream on which three was said";
const SILENCE = { type: "chunk", audio_base64: spokenBase64(50), sample_rate: RATE_HZ };
const REQUIRED = "audio_base64 is required";

/** Client messages and their replies. */
const ANSWERED: readonly StreamExchange[] = [
  { name: "a chunk", given: OPEN, says: SILENCE, hears: [{ ...ACK, received_bytes: 800 }] },
  { name: "another chunk", given: SAID, says: SILENCE, hears: [{ ...ACK, received_bytes: 10_400 }] },
  {
    name: "a chunk that says all that a chunk can",
    given: OPEN,
    says: { ...SILENCE, encoding: "pcm_s16le", language: "en", last: false },
    hears: [{ ...ACK, received_bytes: 800 }],
  },
  {
    name: "a chunk of nulls",
    given: OPEN,
    says: { type: "chunk", audio_base64: "", sample_rate: null, encoding: null, language: null, last: null },
    hears: [{ ...ACK, received_bytes: 0 }],
  },
  { name: "a last chunk", given: OPEN, says: { ...THREE, last: true }, hears: [ACK, FINAL, CLOSED] },
  { name: "a flush", given: SAID, says: { type: "flush" }, hears: [FINAL] },
  { name: "a flush of nothing", given: OPEN, says: { type: "flush" }, hears: [EMPTY] },
  {
    name: "a flush of nothing more",
    given: "a stream on which three was said and heard",
    says: { type: "flush" },
    hears: [{ ...FINAL, text: "", seq: 1, start_ms: 600 }],
  },
  { name: "an end", given: SAID, says: { type: "end" }, hears: [FINAL, CLOSED] },
  { name: "an end of nothing", given: OPEN, says: { type: "end" }, hears: [EMPTY, CLOSED] },
  {
    name: "a chunk that is heard before it is asked for",
    given: "a stream with interim words",
    says: { type: "chunk", audio_base64: spokenBase64("three", 900), sample_rate: RATE_HZ },
    hears: [
      { ...ACK, received_bytes: 19_200 },
      { type: "transcript.partial", text: "three" },
    ],
  },
];

/** Messages that end a stream: pending replies come first, then the reason. */
const BREAKING: readonly StreamExchange[] = [
  {
    name: "a chunk without audio",
    given: SAID,
    says: { type: "chunk" },
    hears: [FINAL, error("invalid_message", REQUIRED)],
  },
  {
    name: "a chunk without audio, at first",
    given: OPEN,
    says: { type: "chunk" },
    hears: [error("invalid_message", REQUIRED)],
  },
  {
    name: "a chunk whose audio is null",
    given: OPEN,
    says: { type: "chunk", audio_base64: null },
    hears: [error("invalid_message", REQUIRED)],
  },
  {
    name: "a chunk that is not base64",
    given: OPEN,
    says: { type: "chunk", audio_base64: "no base64!" },
    hears: [error("invalid_message")],
  },
  {
    name: "a chunk of an impossible rate",
    given: OPEN,
    says: { type: "chunk", audio_base64: "", sample_rate: 12 },
    hears: [error("invalid_message")],
  },
  { name: "a message of no known type", given: OPEN, says: { type: "start" }, hears: [error("invalid_message")] },
  {
    name: "a flush with a member that nobody knows",
    given: OPEN,
    says: { type: "flush", now: true },
    hears: [error("invalid_message")],
  },
  {
    name: "a chunk in another encoding",
    given: SAID,
    says: { type: "chunk", audio_base64: "", encoding: "mulaw" },
    hears: [FINAL, error("unsupported_format", regex("^Unsupported format[\\s\\S]*$", "Unsupported format: 'mulaw'."))],
  },
  {
    name: "a chunk in a language that no model knows",
    given: OPEN,
    says: { ...SILENCE, language: "tlh" },
    hears: [error("unsupported_language")],
  },
  {
    name: "a flush that the engine fails at",
    given: "a stream whose engine fails, on which three was said",
    says: { type: "flush" },
    hears: [error("transcription_failed")],
  },
];

/** Messages that the server sends unasked. */
const UNASKED: readonly StreamExchange[] = [
  { name: "hello", given: "a stream that is being opened", hears: [{ type: "hello", protocol: "stt-jsonl-v1" }] },
  { name: "the end of a silent stream", given: "a stream that is silent for too long", hears: [error("idle_timeout")] },
  {
    name: "the end of a stream that is not read",
    given: "a stream whose client does not read",
    hears: [error("client_too_slow")],
  },
  {
    name: "the end of a stream with too large a chunk",
    given: "a stream with a chunk of more than 1 MiB",
    hears: [error("chunk_too_large")],
  },
  {
    name: "the end of a stream of no JSON",
    given: "a stream with a text that is no JSON",
    hears: [error("invalid_message", regex("^audio_base64 is required[\\s\\S]*$", REQUIRED))],
  },
  {
    name: "the end of a stream of bytes",
    given: "a stream with a frame of bytes",
    over: ["WebSocket"],
    hears: [error("invalid_message")],
  },
  {
    name: "the end of a stream of a server that stops",
    given: "a stream whose server stops",
    over: ["NDJSON"],
    hears: [error("shutting_down")],
  },
];

export const EXCHANGES: readonly Exchange[] = [...ANSWERED, ...BREAKING, ...UNASKED].flatMap((exchange) =>
  (exchange.over ?? ["NDJSON", "WebSocket"]).map((transport) => ({
    ...exchange,
    name: `${exchange.name}, over ${transport}`,
    given: [exchange.given, TRANSPORTS[transport]] as const,
  })),
);
