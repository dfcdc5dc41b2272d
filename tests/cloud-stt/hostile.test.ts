import { once } from "node:events";
import { createDisabledEngine } from "@antiphon/speech/recognition/disabled-engine.ts";
import { type SpeechEngine, SpeechError } from "@antiphon/speech/recognition/speech-engine.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { API_KEY, type CloudServer, startCloudServer } from "./cloud-server.ts";
import { audio, HEARTBEAT, openRawStream, words } from "./raw-stream.ts";

const CONVERSATIONS = 60;
const CONNECTS = 300;
const AT_ONCE = 50;
const MANY = { STT_CLOUD_STREAMS_PER_MINUTE: "10000", STT_CLOUD_AUDIO_SECONDS_PER_MINUTE: "100000" };
const LAST = audio(sound("one", 300), { last: true });

/** The engine answers at once with these words. */
function speechBy(transcribe: () => Promise<string>): SpeechEngine {
  return {
    ...createDisabledEngine(""),
    status: () => ({ state: "ready" }),
    knowsLanguage: () => true,
    refusal: () => null,
    transcribe: async () => ({ text: await transcribe(), segments: [], language: null }),
  };
}

const piece = fc.record(
  {
    type: fc.constant("audio"),
    audio_base64: fc.oneof(
      fc.uint8Array({ maxLength: 4000 }).map((bytes) => Buffer.from(bytes).toString("base64")),
      fc.string({ maxLength: 40 }),
    ),
    sample_rate: fc.oneof(fc.constantFrom(null, 8000, 16_000, 44_100, 96_000), fc.integer(), fc.double()),
    encoding: fc.oneof(fc.constantFrom(null, "pcm16", "s16le"), fc.string()),
    last: fc.constantFrom(null, false),
  },
  { requiredKeys: ["type", "audio_base64"] },
);
const message = fc.oneof(
  { weight: 4, arbitrary: piece },
  { weight: 2, arbitrary: fc.constant(HEARTBEAT) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);

describe("a cloud stream under attack", () => {
  test("stays within its contract for any input, and keeps serving", async () => {
    verifies("cloud.stream.broken-message", "contract.outgoing.valid-against-schemas");
    const server = await startCloudServer({ speech: speechBy(async () => "word"), env: MANY });
    const exchange = async (messages: readonly (object | string)[]): Promise<void> => {
      const stream = await openRawStream(server.url); // It checks each message against the contract.
      stream.say(...messages, LAST);
      const last = (await stream.hearAll()).at(-1);
      const code = await stream.closed();
      if (code === 1000) expect(last).toMatchObject({ type: "final" });
      else expect([code, last]).toMatchObject([1008, { type: "error", message: expect.any(String) }]);
    };
    await fc.assert(fc.asyncProperty(fc.array(message, { maxLength: 12 }), exchange), { numRuns: CONVERSATIONS });
    await expectServing(server);
  });

  test("frees the places of hundreds of clients that connect and drop", async () => {
    verifies("cloud.stream.streams-are-bounded");
    const server = await startCloudServer({ speech: speechBy(async () => "word"), env: MANY });
    for (let round = 0; round < CONNECTS; round += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => connectAndDrop(server.url, round + index)));
    await expect.poll(() => server.streamsOpen()).toBe(0);
    await expectServing(server);
  });

  test("never exceeds its maximum of streams under many simultaneous requests", async () => {
    verifies("cloud.stream.streams-are-bounded");
    const env = { ...MANY, STT_CLOUD_STREAMS_MAX: "5" };
    const server = await startCloudServer({ speech: speechBy(async () => "word"), env });
    const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => openRawStream(server.url)));
    const opened = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect([opened.length, await server.streamsOpen()]).toEqual([5, 5]);
    for (const stream of opened) stream.say(LAST);
    for (const stream of opened) expect(words(await stream.hearAll())).toBe("word");
  });

  test("ends with internal_error and 1011 when its engine fails", async () => {
    const failing = speechBy(() => Promise.reject(new SpeechError("crashed", "The speech engine failed twice")));
    const server = await startCloudServer({ speech: failing });
    const stream = await openRawStream(server.url);
    stream.say(LAST);
    expect(await stream.hearAll()).toEqual([
      { type: "error", code: "internal_error", message: "The speech engine failed twice." },
    ]);
    expect(await stream.closed()).toBe(1011);
  });
});

async function expectServing(server: CloudServer): Promise<void> {
  const stream = await openRawStream(server.url);
  stream.say(LAST);
  expect(words(await stream.hearAll())).toBe("word");
}

/** Sends something or nothing, then drops the connection. */
async function connectAndDrop(url: string, round: number): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/stt/v1/stream`, { headers: { "x-api-key": API_KEY } });
  socket.on("error", () => {});
  const closed = new Promise((resolve) => void socket.once("close", resolve));
  if (round % 4 > 0) await Promise.race([once(socket, "open").catch(() => {}), closed]);
  if (socket.readyState === WebSocket.OPEN) socket.send(round % 2 === 0 ? "{" : JSON.stringify(LAST));
  socket.terminate();
  await closed;
}
