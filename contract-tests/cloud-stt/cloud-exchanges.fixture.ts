import { MatchersV3 } from "@pact-foundation/pact";
import type { ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { RATE_HZ, spokenBase64 } from "../../tests/speech/slow-sound.ts";
import type { Exchange } from "../exchange-pact.fixture.ts";
import type { CloudState } from "./cloud-states.fixture.ts";

const { regex, string } = MatchersV3;

interface CloudExchange extends Exchange {
  readonly given: readonly [CloudState];
}

const OPEN = ["a stream that was just opened"] as const;
const HEARD = { text: "three", confidence: null };
const FINAL = { type: "final", ...HEARD };
const NOTHING = { ...FINAL, text: "" };

function audio(...parts: readonly (ToneWord | number)[]): object {
  return { type: "audio", audio_base64: spokenBase64(...parts), sample_rate: RATE_HZ };
}

function error(code: string, message: unknown = string("A sentence.")): object {
  return { type: "error", code, message };
}

/** A server may leave out interims, so only the exchange about interims has one. */
export const CLOUD_EXCHANGES: readonly CloudExchange[] = [
  { name: "a piece with a word and a pause", given: OPEN, says: audio("three", 1000), hears: [FINAL] },
  {
    name: "a piece of somebody who goes on speaking",
    given: OPEN,
    says: audio("three", 200, "one", 200),
    hears: [{ type: "interim", text: regex("^three.*$", "three"), confidence: null }],
  },
  { name: "a last piece", given: OPEN, says: { ...audio("three", 300), last: true }, hears: [FINAL] },
  { name: "a last piece of silence", given: OPEN, says: { ...audio(100), last: true }, hears: [NOTHING] },
  {
    name: "a last piece of nulls",
    given: OPEN,
    says: { type: "audio", audio_base64: "", sample_rate: null, encoding: null, language: null, last: true },
    hears: [NOTHING],
  },
  {
    name: "a heartbeat",
    given: ["a stream that its client ends after the next message"],
    says: { type: "heartbeat" },
    hears: [NOTHING],
  },
  { name: "a piece without audio", given: OPEN, says: { type: "audio" }, hears: [error("invalid_message")] },
  {
    name: "a piece that is not base64",
    given: OPEN,
    says: { type: "audio", audio_base64: "no base64!" },
    hears: [error("invalid_message")],
  },
  { name: "a message of no known type", given: OPEN, says: { type: "flush" }, hears: [error("invalid_message")] },
  {
    name: "a heartbeat with a member that nobody knows",
    given: OPEN,
    says: { type: "heartbeat", at: 1 },
    hears: [error("invalid_message")],
  },
  {
    name: "a piece in another encoding",
    given: OPEN,
    says: { type: "audio", audio_base64: "", encoding: "opus" },
    hears: [error("unsupported_format")],
  },
  {
    name: "a piece in a language that no model knows",
    given: OPEN,
    says: { ...audio(100), language: "tlh" },
    hears: [error("unsupported_language")],
  },
  {
    name: "a piece of more sound than may be sent",
    given: ["a key that may send no more sound"],
    says: audio(1100),
    hears: [error("rate_limited")],
  },
  {
    name: "a last piece that the engine fails at",
    given: ["an engine that fails on every recording"],
    says: { ...audio("three", 300), last: true },
    hears: [error("internal_error")],
  },
  {
    name: "the end of a silent stream",
    given: ["a stream that is silent for too long"],
    hears: [error("idle_timeout")],
  },
  {
    name: "the end of a stream that is not read",
    given: ["a stream whose client does not read"],
    hears: [error("client_too_slow")],
  },
];
