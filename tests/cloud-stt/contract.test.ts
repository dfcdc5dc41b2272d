import { once } from "node:events";
import { silentLogger } from "@antiphon/base/logger.ts";
import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import type { SpeechEngine } from "@antiphon/speech/recognition/speech-engine.ts";
import { describe, expect, test } from "vitest";
import { sound, tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { API_KEY, OTHER_KEY, startCloudServer } from "./cloud-server.ts";
import { audio, HEARTBEAT, openRawStream, refusedUpgrade, words } from "./raw-stream.ts";
import { program, sharedToneSpeech } from "./tone-speech.ts";

const LAST = { last: true };

describe.skipIf(program === null)("a cloud stream", () => {
  const speech = sharedToneSpeech();

  test("gives a final at each pause and after the last piece, then closes with 1000", async () => {
    verifies("cloud.stream.entry-point", "cloud.stream.finals-at-pauses", "contract.outgoing.valid-against-schemas");
    const server = await startCloudServer({ speech: speech() });
    const stream = await openRawStream(server.url);
    stream.say(audio(sound("three", 300, "one", 1000)));
    expect(await stream.hear()).toEqual({ type: "final", text: "three one", language: "en", confidence: null });
    stream.say(HEARTBEAT, audio(sound("four", 1000)));
    expect(await stream.hear()).toEqual({ type: "final", text: "four", language: "en", confidence: null });
    stream.say(audio(tones("two"), { encoding: "pcm16", sample_rate: 16_000, ...LAST }));
    expect(await stream.hearAll()).toEqual([{ type: "final", text: "two", language: "en", confidence: null }]);
    expect(await stream.closed()).toBe(1000);
  });

  test("sends interims during speech, each replaced by the next", async () => {
    verifies("cloud.stream.interim-and-final");
    const server = await startCloudServer({ speech: speech() });
    const stream = await openRawStream(server.url);
    stream.say(audio(sound("five", 200, "six", 200)));
    expect(await stream.hear()).toMatchObject({ type: "interim", text: expect.stringContaining("five") });
    stream.say(audio(sound(1000), LAST));
    const heard = await stream.hearAll();
    expect(heard.filter(({ type }) => type !== "interim")[0]).toMatchObject({ type: "final", text: "five six" });
  });

  test("answers silence or no audio at all with an empty final", async () => {
    verifies("cloud.stream.empty-final");
    const server = await startCloudServer({ speech: speech() });
    for (const last of [audio(sound(1500), LAST), audio(new Uint8Array(0), LAST)]) {
      const stream = await openRawStream(server.url);
      stream.say(last);
      expect(await stream.hearAll()).toEqual([{ type: "final", text: "", confidence: null }]);
      expect(await stream.closed()).toBe(1000);
    }
  });

  test("without audio and heartbeats ends with its outstanding finals, idle_timeout and 1001", async () => {
    verifies("cloud.stream.idle-drop");
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_IDLE_TIMEOUT_MS: "500" } });
    const stream = await openRawStream(server.url);
    stream.say(audio(tones("nine")));
    const heard = (await stream.hearAll()).filter(({ type }) => type !== "interim");
    expect(heard).toEqual([
      { type: "final", text: "nine", language: "en", confidence: null },
      { type: "error", code: "idle_timeout", message: expect.any(String) },
    ]);
    expect(await stream.closed()).toBe(1001);
  });

  test("stays open on heartbeats alone", async () => {
    verifies("cloud.stream.heartbeat-keeps-open");
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_IDLE_TIMEOUT_MS: "1500" } });
    const stream = await openRawStream(server.url);
    for (let beat = 0; beat < 12; beat += 1) {
      stream.say(HEARTBEAT);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    stream.say(audio(tones("one"), LAST));
    expect(words(await stream.hearAll())).toBe("one");
  });

  test.each([
    ["no audio", { type: "audio" }, "audio_base64 is required."],
    ["null for audio", { type: "audio", audio_base64: null }, "audio_base64 is required."],
    ["no object", "[1]", "A message is a JSON object."],
    ["invalid JSON", '{"type": "au', "The message is not valid JSON."],
    ["an unknown type", { type: "chunk", audio_base64: "" }, "The type must be audio or heartbeat."],
    ["a heartbeat that has more", { ...HEARTBEAT, at: 1 }, "A heartbeat has no other members."],
    ["a member that is not known", audio(tones("one"), { speaker: "me" }), "An audio message has members"],
    ["an impossible rate", audio(tones("one"), { sample_rate: 3 }), "sample_rate is not valid."],
    ["what is not base64", { type: "audio", audio_base64: "no base64!" }, "audio_base64 is not base64"],
    ["a piece that is too large", audio(new Uint8Array(1024 * 1024 + 2)), "A chunk holds at most"],
    ["a piece that is far too large", audio(new Uint8Array(1024 * 1024 + 9)), "audio_base64 is not valid."],
  ])("that sends %s gets what it is owed, invalid_message and 1008", async (_name, message, reason) => {
    verifies("cloud.stream.broken-message");
    const server = await startCloudServer({ speech: speech() });
    const stream = await openRawStream(server.url);
    stream.say(audio(tones("seven")), message, HEARTBEAT);
    const heard = (await stream.hearAll()).filter(({ type }) => type !== "interim");
    expect(heard).toEqual([
      { type: "final", text: "seven", language: "en", confidence: null },
      { type: "error", code: "invalid_message", message: expect.stringContaining(reason) },
    ]);
    expect(await stream.closed()).toBe(1008);
  });

  test("that sends a binary frame gets invalid_message and 1008 too, and a frame beyond 2 MiB 1009", async () => {
    verifies("cloud.stream.broken-message");
    const server = await startCloudServer({ speech: speech() });
    const binary = await openRawStream(server.url);
    binary.socket.send(Buffer.alloc(640));
    expect(await binary.hearAll()).toMatchObject([{ type: "error", code: "invalid_message" }]);
    expect(await binary.closed()).toBe(1008);
    const large = await openRawStream(server.url);
    large.say(audio(new Uint8Array(2 * 1024 * 1024)));
    expect(await large.hearAll()).toMatchObject([{ type: "error", code: "invalid_message" }]);
    expect(await large.closed()).toBe(1009);
  });

  test("in a language that the model does not know gets unsupported_language and 1008", async () => {
    verifies("cloud.stream.language");
    const server = await startCloudServer({ speech: speech() });
    const stream = await openRawStream(server.url);
    stream.say(audio(tones("eight"), { language: "de" }));
    expect(await stream.hearAll()).toMatchObject([{ type: "error", code: "unsupported_language" }]);
    expect(await stream.closed()).toBe(1008);
  });

  test("in another format than 16-bit PCM gets unsupported_format and 1008", async () => {
    verifies("cloud.stream.unsupported-format");
    const server = await startCloudServer({ speech: speech() });
    const stream = await openRawStream(server.url);
    stream.say(audio(tones("eight")), audio(tones("one"), { encoding: "opus" }));
    const heard = (await stream.hearAll()).filter(({ type }) => type !== "interim");
    expect(heard).toMatchObject([
      { type: "final", text: "eight" },
      { type: "error", code: "unsupported_format", message: expect.stringMatching(/^Unsupported format/) },
    ]);
    expect(await stream.closed()).toBe(1008);
  });

  test("of a key that sends too much audio in a minute ends with rate_limited and 1008, and the key is blocked", async () => {
    verifies("cloud.stream.audio-limit");
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_AUDIO_SECONDS_PER_MINUTE: "2" } });
    const stream = await openRawStream(server.url);
    stream.say(audio(sound("two", 300, "five", 300)), audio(sound(1500)));
    const heard = (await stream.hearAll()).filter(({ type }) => type !== "interim");
    expect(heard.at(-1)).toMatchObject({ type: "error", code: "rate_limited" });
    expect(words(heard)).toBe("two five");
    expect(await stream.closed()).toBe(1008);
    expect(await refusedUpgrade(server.url)).toMatchObject({ status: 429, headers: { "retry-after": "60" } });
    (await openRawStream(server.url, OTHER_KEY)).socket.close();
  });

  test("is refused beyond the maximum number, and open streams continue", async () => {
    verifies("cloud.stream.streams-are-bounded");
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_STREAMS_MAX: "1" } });
    const stream = await openRawStream(server.url);
    expect(await refusedUpgrade(server.url)).toMatchObject({
      status: 503,
      headers: { "retry-after": "5" },
      body: { error: { code: "too_many_streams", message: expect.stringContaining("STT_CLOUD_STREAMS_MAX") } },
    });
    stream.say(audio(tones("six"), LAST));
    expect(words(await stream.hearAll())).toBe("six");
    await expect.poll(() => server.streamsOpen()).toBe(0);
    (await openRawStream(server.url)).socket.close();
  });

  test("answers a plain request with 426 if an upgrade would succeed", async () => {
    verifies("cloud.stream.plain-request-tells-the-refusal");
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_STREAMS_PER_MINUTE: "1" } });
    for (let round = 0; round < 3; round += 1) {
      const reply = await fetch(`${server.url}/stt/v1/stream`, { headers: { "x-api-key": API_KEY } });
      expect([reply.status, reply.headers.get("upgrade")]).toEqual([426, "websocket"]);
    }
    (await openRawStream(server.url)).socket.close();
  });

  test("frees its place when its client leaves", async () => {
    const server = await startCloudServer({ speech: speech(), env: { STT_CLOUD_STREAMS_MAX: "1" } });
    for (let round = 0; round < 3; round += 1) {
      const stream = await openRawStream(server.url);
      stream.say(audio(sound("one", 1000, "two", 1000)));
      stream.socket.terminate();
      await expect.poll(() => server.streamsOpen()).toBe(0);
    }
  });

  test("leaves no key, sound or word in the log", async () => {
    verifies("cloud.stream.nothing-kept");
    const lines: string[] = [];
    const hear = (fields: object, message: string): void => void lines.push(JSON.stringify([message, fields]));
    const log = { ...silentLogger, trace: hear, debug: hear, info: hear, warn: hear, error: hear };
    const server = await startCloudServer({ speech: speech(), log });
    const stream = await openRawStream(server.url);
    const piece = audio(tones("three", "one"), LAST);
    stream.say(piece);
    expect(words(await stream.hearAll())).toBe("three one");
    await refusedUpgrade(server.url, "sk-wrong-0123456789");
    await expect.poll(() => lines.some((line) => line.includes("WebSocket closed"))).toBe(true);
    expect(lines.some((line) => line.includes("cloud stream opened"))).toBe(true);
    const said = lines.join("\n");
    for (const secret of [API_KEY, "sk-wrong-0123456789", "three", JSON.stringify(piece).slice(40, 90)])
      expect(said).not.toContain(secret);
  });
});

/** An engine that transcribes any sound at once, as the same long speech. */
function talkativeSpeech(): SpeechEngine {
  const text = "word ".repeat(50_000);
  return {
    ...createDisabledEngine(""),
    status: () => ({ state: "ready" }),
    knowsLanguage: () => true,
    refusal: () => null,
    transcribe: async () => ({ text, segments: [], language: null }),
  };
}

describe("the cloud server", () => {
  const nobody = createDisabledEngine("There is no engine");

  test("ends the stream of a client that reads nothing before much output is queued", async () => {
    verifies("cloud.stream.slow-reader-is-bounded");
    const server = await startCloudServer({ speech: talkativeSpeech() });
    const stream = await openRawStream(server.url);
    stream.socket.pause();
    const piece = audio(sound("one", 1000));
    for (let sent = 0; sent < 500 && (await server.streamsOpen()) > 0; sent += 10)
      stream.say(...Array.from({ length: 10 }, () => piece));
    await expect.poll(() => server.streamsOpen()).toBe(0);
    stream.socket.resume();
    const heard = await stream.hearAll();
    expect(heard.at(-1)).toMatchObject({ type: "error", code: "client_too_slow" });
    expect(await stream.closed()).toBe(1001);
  });

  test.each([
    ["no key", null],
    ["an empty key", "  "],
    ["a wrong key", "sk-wrong"],
    ["the hash of nothing", `Bearer ${API_KEY}`],
  ])("answers an upgrade with %s, and a plain request, with 401", async (_name, key) => {
    verifies("cloud.stream.bad-key-is-401", "cloud.stream.plain-request-tells-the-refusal");
    const server = await startCloudServer({ speech: nobody });
    const refused = { error: { code: "invalid_api_key", message: expect.any(String) } };
    expect(await refusedUpgrade(server.url, key)).toMatchObject({
      status: 401,
      headers: { "www-authenticate": expect.any(String), "x-request-id": expect.any(String) },
      body: refused,
    });
    const plain = await fetch(`${server.url}/stt/v1/stream`, { headers: key === null ? {} : { "x-api-key": key } });
    expect([plain.status, await plain.json()]).toEqual([401, refused]);
  });

  test("refuses a key that opens too many streams until the wait is over, and no other key", async () => {
    verifies("cloud.stream.rate-limit-waits-60-seconds", "cloud.stream.plain-request-tells-the-refusal");
    const server = await startCloudServer({ speech: nobody, env: { STT_CLOUD_STREAMS_PER_MINUTE: "2" } });
    const askPlainly = async (): Promise<number> => {
      const headers = { "x-api-key": API_KEY };
      return (await fetch(`${server.url}/stt/v1/stream`, { headers })).status;
    };
    expect(await askPlainly()).toBe(503); // The engine is not ready, and plain requests do not count.
    for (const status of [503, 503, 429, 429]) expect((await refusedUpgrade(server.url)).status).toBe(status);
    expect(await refusedUpgrade(server.url)).toMatchObject({
      headers: { "retry-after": "60" },
      body: { error: { code: "rate_limited" } },
    });
    expect(await askPlainly()).toBe(429);
    expect((await refusedUpgrade(server.url, OTHER_KEY)).status).toBe(503);
  });

  test("reports an engine that is not ready", async () => {
    const server = await startCloudServer({ speech: nobody });
    expect(await refusedUpgrade(server.url)).toMatchObject({ status: 503, body: { error: { code: "model_failed" } } });
    const health = await fetch(`${server.url}/healthz`);
    expect([health.status, await health.json()]).toMatchObject([200, { ok: false, formatting: { enabled: false } }]);
  });

  test("answers 404 at other paths, and hides its metrics if configured so", async () => {
    const server = await startCloudServer({ speech: nobody, env: { METRICS_KEY: "sk-metrics-key-0123456789" } });
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws/transcribe`);
    await once(socket, "error");
    const statuses = ["/ws/transcribe", "/transcribe", "/", "/metrics"].map(
      async (path) => (await fetch(server.url + path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 401]);
  });
});
