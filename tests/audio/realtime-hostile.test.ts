import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import { type SpeechEngine, SpeechError } from "@antiphon/speech/recognition/speech-engine.ts";
import { describe, expect, test } from "vitest";
import { program } from "../local-stt/tone-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { startAudioServer } from "./audio-servers.ts";
import { openRealtime, pcmAt, type RealtimeClient, type RealtimeEvent } from "./realtime-client.ts";

const SPOKEN = pcmAt(24_000, sound(300, "three", 1000));
const MEBIBYTE = 1024 * 1024;

/** The events of an engine that never answers, until its caller gives the sound up. */
function silentEngine(): {
  readonly engine: SpeechEngine;
  readonly asked: Promise<void>;
  readonly left: Promise<void>;
} {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const engine: SpeechEngine = {
    ...createDisabledEngine(""),
    status: () => ({ state: "ready" }),
    refusal: () => null,
    transcribe: (_samples, { signal }) => {
      asked.resolve();
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      return promise.finally(() => left.resolve());
    },
  };
  return { engine, asked: asked.promise, left: left.promise };
}

/** Answers with these in turn. */
function scriptedEngine(...answers: readonly (string | SpeechError)[]): SpeechEngine {
  const left = [...answers];
  return {
    ...createDisabledEngine(""),
    status: () => ({ state: "ready" }),
    refusal: () => null,
    transcribe: async () => {
      const answer = left.shift() ?? "";
      if (answer instanceof SpeechError) throw answer;
      return { text: answer, segments: [], language: "en" };
    },
  };
}

async function open(speech: SpeechEngine, env: Readonly<Record<string, string>> = {}): Promise<RealtimeClient> {
  const { url } = await startAudioServer("Interface B", { speech, env });
  return openRealtime(url);
}

async function errorOf(session: RealtimeClient): Promise<RealtimeEvent<"error">["error"]> {
  return (await session.until("error")).error;
}

const append = (audio: unknown): object => ({ type: "input_audio_buffer.append", event_id: "mine", audio });
const update = (input: object): object => ({
  type: "session.update",
  event_id: "mine",
  session: { type: "transcription", audio: { input } },
});

const BAD_EVENTS: readonly (readonly [string, object | string, object])[] = [
  ["no JSON", "{", { event_id: null }],
  ["a list", "[]", { code: "invalid_type", event_id: null }],
  ["no type", { event_id: "mine" }, { code: "missing_required_parameter", param: "type" }],
  ["an unknown type", { type: "sing", event_id: "mine" }, { code: "invalid_value", param: "type" }],
  ["a response", { type: "response.create", event_id: "mine" }, { code: "unsupported_value", param: "type" }],
  ["the older dialect", { type: "transcription_session.update", event_id: "mine" }, { code: "unsupported_value" }],
  ["no audio", { type: "input_audio_buffer.append", event_id: "mine" }, { param: "audio" }],
  ["audio that is a number", append(7), { code: "invalid_type", param: "audio" }],
  ["bad base64", append("$$$$"), { code: "invalid_value", param: "audio" }],
  ["base64 cut short", append("AAA"), { code: "invalid_value", param: "audio" }],
  ["too much audio", append("A".repeat(15 * MEBIBYTE + 4)), { code: "string_above_max_length", param: "audio" }],
  [
    "a commit of nothing",
    { type: "input_audio_buffer.commit", event_id: "mine" },
    { code: "input_audio_buffer_commit_empty" },
  ],
  ["no session", { type: "session.update", event_id: "mine" }, { param: "session" }],
  [
    "a session with a model that answers",
    { type: "session.update", event_id: "mine", session: { type: "realtime" } },
    { code: "invalid_value", param: "session.type" },
  ],
  [
    "a wrong rate",
    update({ format: { type: "audio/pcm", rate: 44_100 } }),
    { param: "session.audio.input.format.rate" },
  ],
  ["an unknown format", update({ format: { type: "audio/mp3" } }), { param: "session.audio.input.format.type" }],
  [
    "a threshold above 1",
    update({ turn_detection: { type: "server_vad", threshold: 2 } }),
    { code: "decimal_above_max_value", param: "session.audio.input.turn_detection.threshold" },
  ],
  [
    "an unknown detection",
    update({ turn_detection: { type: "psychic_vad" } }),
    { code: "invalid_value", param: "session.audio.input.turn_detection.type" },
  ],
  [
    "a short idle timeout",
    update({ turn_detection: { type: "server_vad", idle_timeout_ms: 10 } }),
    { code: "integer_below_min_value", param: "session.audio.input.turn_detection.idle_timeout_ms" },
  ],
  [
    "no language at all",
    update({ transcription: { language: "???" } }),
    { code: "invalid_value", param: "session.audio.input.transcription.language" },
  ],
];

describe("a live session", () => {
  test.each(BAD_EVENTS)("goes on after %s", async (_name, event, error) => {
    verifies("audio.realtime.bad-events");
    const session = await open(scriptedEngine("hello"));
    session.send(event);
    expect(await errorOf(session)).toMatchObject({ type: "invalid_request_error", event_id: "mine", ...error });
    session.say(SPOKEN);
    expect(await session.transcript()).toBe("hello");
  });

  test("goes on after a binary frame", async () => {
    verifies("audio.realtime.bad-events");
    const session = await open(scriptedEngine("hello"));
    session.socket.send(Buffer.from([1, 2, 3]));
    expect(await errorOf(session)).toMatchObject({ type: "invalid_request_error", event_id: null });
    session.say(SPOKEN);
    expect(await session.transcript()).toBe("hello");
  });

  test("takes samples that are split between two events", async () => {
    verifies("audio.realtime.formats");
    const lengths: number[] = [];
    const engine: SpeechEngine = {
      ...scriptedEngine(),
      transcribe: async (samples) => {
        lengths.push(samples.length);
        return { text: "hello", segments: [], language: null };
      },
    };
    for (const bytesEach of [4800, 4801]) {
      const session = await open(engine);
      session.say(SPOKEN, bytesEach);
      await session.transcript();
    }
    expect(lengths[1]).toBe(lengths[0]);
  });

  test("tells of a turn that cannot be transcribed, and goes on", async () => {
    verifies("audio.realtime.failures");
    const session = await open(scriptedEngine(new SpeechError("crashed", "The engine broke"), "hello"));
    session.say(SPOKEN);
    const failed = await session.until("conversation.item.input_audio_transcription.failed");
    expect(failed).toMatchObject({ content_index: 0, error: { type: "server_error", message: expect.any(String) } });
    session.say(SPOKEN);
    expect(await session.transcript()).toBe("hello");
  });

  test("ends a turn of semantic_vad after a whole sentence", async () => {
    verifies("audio.realtime.semantic");
    const session = await open(scriptedEngine("Hello there."));
    session.configure({ turn_detection: { type: "semantic_vad", eagerness: "low" } });
    session.say(pcmAt(24_000, sound(300, "three", 700)));
    const before = await session.until("input_audio_buffer.speech_started");
    session.say(pcmAt(24_000, sound(500)));
    const { item_id } = await session.until("input_audio_buffer.speech_stopped");
    expect(item_id).toBe(before.item_id);
    expect(await session.transcript()).toBe("Hello there.");
  });

  test("frees the engine and its place when its client leaves", async () => {
    verifies("audio.realtime.limits");
    const { engine, asked, left } = silentEngine();
    const { url } = await startAudioServer("Interface B", { speech: engine, env: { STT_STREAMS_MAX: "1" } });
    const session = await openRealtime(url);
    session.say(SPOKEN);
    await asked;
    await expect(openRealtime(url)).rejects.toMatchObject({ status: 503 });
    session.socket.terminate();
    await left;
    await openRealtime(url);
  });

  test("gives up what is cleared while it is heard", async () => {
    verifies("audio.realtime.commit");
    const { engine, asked, left } = silentEngine();
    const session = await open(engine);
    session.configure({ turn_detection: null });
    session.say(pcmAt(24_000, sound(300, "three", 1000)));
    await asked;
    session.send({ type: "input_audio_buffer.clear" });
    await session.until("input_audio_buffer.cleared");
    await left;
  });

  test("ends when its client says nothing for too long", async () => {
    verifies("audio.realtime.limits");
    const session = await open(scriptedEngine(), { STT_IDLE_TIMEOUT_MS: "1000" });
    expect(await errorOf(session)).toMatchObject({ code: "idle_timeout" });
    expect(await session.closed).toBe(1001);
  });

  test("ends at an event that is too large", async () => {
    verifies("audio.realtime.limits");
    const session = await open(scriptedEngine());
    session.send(append("A".repeat(16 * MEBIBYTE)));
    expect(await errorOf(session)).toMatchObject({ type: "invalid_request_error" });
    expect(await session.closed).toBe(1009);
  });

  test.each([
    ["", "intent"],
    ["?model=gpt-realtime", "intent"],
    ["?intent=chat", "intent"],
    ["?call_id=rtc_1", "call_id"],
  ])("at the address %o is refused by name", async (search, param) => {
    verifies("audio.realtime.addresses");
    const { url } = await startAudioServer("Interface B", { speech: scriptedEngine() });
    const session = await openRealtime(url, { search });
    expect(await errorOf(session)).toMatchObject({ type: "invalid_request_error", param });
    expect(await session.closed).toBe(1008);
  });
});

describe.skipIf(program === null)("many live sessions", () => {
  test("each hear their own words, and one more than the limit is refused", async () => {
    verifies("audio.realtime.limits");
    const { url } = await startAudioServer("Interface B", { env: { STT_STREAMS_MAX: "4" } });
    const words = ["one", "three", "four", "nine"] as const;
    const sessions = await Promise.all(words.map(() => openRealtime(url)));
    await expect(openRealtime(url)).rejects.toMatchObject({ status: 503 });
    for (const [index, word] of words.entries()) sessions[index]?.say(pcmAt(24_000, sound(300, word, 1000)));
    expect(await Promise.all(sessions.map((session) => session.transcript()))).toEqual(words);
  });
});
