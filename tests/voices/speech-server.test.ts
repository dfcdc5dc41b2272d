import { inspect } from "node:util";
import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import { wavHeader } from "@antiphon/speech/audio/wav.ts";
import { expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { pollUntil } from "../runs/poll.ts";
import { serveSlowModel } from "../runs/slow-model.ts";
import { verifies } from "../verifies.ts";
import { eventsOf, hear, loudness, samplesOf, soundOf, textOf, wordsOf } from "./hear.ts";
import { SERVER_RATE_HZ, serveVoice, speakWav, toneOf, VOICE_KEY } from "./serve-voice.ts";

/** A server with a built-in model that says three sentences. Its log is recorded. */
async function behindWithLog(env: Readonly<Record<string, string>>, log: Logger) {
  const scenario = JSON.stringify({ scenarios: [{ events: [{ text: `${TEXT} And the third one is longer.` }] }] });
  const server = await startTestServer({ scenario, env, log });
  const create = (members: object) =>
    server.post("/v1/responses", { model: "antiphon-built-in", input: "x", ...members });
  return { server, create };
}

const SPOKEN = { stream: true, output_audio: {} };
const TEXT = "This is the first sentence. And **here** is the second one.";
const SENTENCES = ["This is the first sentence.", "And here is the second one."];

test("the sound of an answer starts while its text is still being written", async () => {
  verifies(
    "extensions.audio.output-audio",
    "extensions.audio.while-the-text-streams",
    "responses.stream.audio-is-base64",
    "dialect.map.output-audio-events",
  );
  const voice = await serveVoice();
  const { create, call } = await serveSlowModel(voice.env);
  const heard = hear(await create(SPOKEN));
  const model = await call(0);
  model.say("This is the first sentence. And");
  await heard.first("response.output_audio.delta"); // The model has said no more yet.
  expect(wordsOf(heard.events)).toBe(SENTENCES[0]);
  model.say(" **here** is the second one.");
  model.finish();
  const events = await heard.whole;
  expect(textOf(events)).toBe(TEXT);
  expect(wordsOf(events)).toBe(SENTENCES.join(" "));
  expect(soundOf(events)).toEqual(Buffer.concat(SENTENCES.map(toneOf)));
  expect(events.slice(-3).map(({ type }) => type)).toEqual([
    "response.output_audio.done",
    "response.audio.transcript.done",
    "response.completed",
  ]);
});

test("the speech server gets each sentence, with its key, its model, and the requested voice", async () => {
  verifies("extensions.audio.reference-voices");
  const voice = await serveVoice();
  const { create } = await serveBehind(says(TEXT), { ...voice.env, VOICE_NAME: "usual" });
  await hear(await create({ stream: true, output_audio: { voice: "nova" } })).whole;
  await hear(await create(SPOKEN)).whole;
  const asked = (input: string | undefined, name: string) => ({
    model: "a-voice-model",
    input,
    voice: name,
    response_format: "wav",
  });
  expect(voice.asked()).toEqual([
    asked(SENTENCES[0], "nova"),
    asked(SENTENCES[1], "nova"),
    asked(SENTENCES[0], "usual"),
    asked(SENTENCES[1], "usual"),
  ]);
  for (const { path, headers } of voice.calls)
    expect([path, headers.authorization]).toEqual(["/v1/audio/speech", `Bearer ${VOICE_KEY}`]);
});

test("a speech server without WAV is asked for PCM, with the rate from its reply", async () => {
  const voice = await serveVoice((response, { input, response_format: format }) => {
    if (format === "wav") return response.writeHead(400, { "content-type": "application/json" }).end('{"error":{}}');
    response.writeHead(200, { "content-type": "audio/pcm; rate=12000" });
    return response.end(toneOf(input));
  });
  const { create } = await serveBehind(says(TEXT), voice.env);
  const sound = soundOf(await hear(await create(SPOKEN)).whole);
  expect(sound.length).toBe(2 * Buffer.concat(SENTENCES.map(toneOf)).length);
  expect(loudness(samplesOf(sound))).toBeCloseTo(0.25, 2);
  expect(voice.asked().map(({ response_format }) => response_format)).toEqual(["wav", "pcm", "pcm"]);
});

test("sound has the requested format and rate", async () => {
  const voice = await serveVoice();
  const { create } = await serveBehind(says(TEXT), voice.env);
  const wav = soundOf(
    await hear(await create({ stream: true, output_audio: { format: "wav", sample_rate_hz: 8000 } })).whole,
  );
  expect([wav.toString("latin1", 0, 4), wav.readUInt16LE(22), wav.readUInt32LE(24)]).toEqual(["RIFF", 1, 8000]);
  const [first = "", second = ""] = SENTENCES;
  const samples = [first, second].map((sentence) => Math.round((toneOf(sentence).length / 2 / SERVER_RATE_HZ) * 8000));
  expect((wav.length - 44) / 2).toBe(samples.reduce((sum, count) => sum + count));
  expect(loudness(samplesOf(wav.subarray(44)))).toBeCloseTo(0.25, 2);
});

test("a refusal is spoken; reasoning and calls are not", async () => {
  const voice = await serveVoice();
  const scenario = JSON.stringify({
    scenarios: [
      {
        events: [
          { reasoning_summary: ["I had better not."] },
          { refusal: "I cannot help with that." },
          { call: { name: "f", call_id: "call_1", arguments: { a: "Do not say this." }, chunks: 2 } },
        ],
      },
    ],
  });
  const server = await startTestServer({ scenario, env: voice.env });
  const tools = [{ type: "function", name: "f", strict: false, parameters: {} }];
  await hear(await server.post("/v1/responses", { model: "antiphon-built-in", input: "x", tools, ...SPOKEN })).whole;
  expect(voice.asked().map(({ input }) => input)).toEqual(["I cannot help with that."]);
});

test("a failing voice ends the sound, and the answer is complete", async () => {
  verifies("extensions.audio.failing-voice");
  const lines: string[] = [];
  const keep = (fields: object, message: string): void => void lines.push(`${message} ${inspect(fields)}`);
  const voice = await serveVoice((response, asked, index) => {
    if (index === 0) return speakWav(response, asked);
    response.writeHead(500, { "content-type": "application/json" });
    return response.end(
      JSON.stringify({ error: { code: "gpu_gone", message: `cannot say ${asked.input} for ${VOICE_KEY}` } }),
    );
  });
  const { create } = await behindWithLog(voice.env, { ...silentLogger, warn: keep, error: keep });
  const events = await hear(await create(SPOKEN)).whole;
  expect(textOf(events)).toBe(`${TEXT} And the third one is longer.`);
  expect(wordsOf(events)).toBe(SENTENCES[0]);
  expect(soundOf(events)).toEqual(toneOf(SENTENCES[0] ?? ""));
  expect(eventsOf(events, "response.output_audio.done")).toHaveLength(1);
  expect(events.at(-1)?.type).toBe("response.completed");
  expect(voice.calls).toHaveLength(2);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/voice failed.*answered 500 \(gpu_gone\)/s);
  expect(lines[0]).not.toMatch(/here is the second|9876543210/);
});

test.each([
  ["nothing listens", "http://127.0.0.1:1/v1", null],
  ["it sends something else", null, "audio/mpeg"],
  ["it sends nothing", null, "audio/wav"],
])("an answer is whole where the speech server is of no use: %s", async (_title, baseUrl, contentType) => {
  const voice = await serveVoice((response) => {
    response.writeHead(200, { "content-type": contentType ?? "" });
    response.end(contentType === "audio/mpeg" ? Buffer.alloc(500) : "");
  });
  const env = baseUrl === null ? voice.env : { VOICE_BASE_URL: baseUrl };
  const { create } = await behindWithLog(env, silentLogger);
  const events = await hear(await create(SPOKEN)).whole;
  expect([wordsOf(events), soundOf(events).length]).toEqual(["", 0]);
  expect(eventsOf(events, "response.output_audio.done")).toHaveLength(1);
  expect(events.at(-1)?.type).toBe("response.completed");
});

test("cancelling stops the voice at once, and ends the sound before the response", async () => {
  verifies("extensions.audio.cancel-stops-the-voice");
  const voice = await serveVoice((response) => {
    response.writeHead(200, { "content-type": "audio/pcm" });
    response.write(toneOf("ten letters")); // It never ends.
  });
  const { server, create, call } = await serveSlowModel(voice.env);
  const heard = hear(await create({ ...SPOKEN, background: true }));
  const model = await call(0);
  model.say("This is the first sentence. And");
  await heard.first("response.output_audio.delta");
  const { response } = await heard.first("response.created");
  const cancelled = await readResponse(await server.post(`/v1/responses/${response.id}/cancel`, {}));
  expect(cancelled.status).toBe("cancelled");
  await Promise.all([voice.calls[0]?.closed, model.aborted]);
  const events = await heard.whole;
  expect(events.slice(-6).map(({ type }) => type)).toEqual([
    "response.output_audio.done",
    "response.audio.transcript.done",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.failed",
  ]);
  expect(voice.calls).toHaveLength(1);
});

test("a client that leaves stops the voice", async () => {
  const voice = await serveVoice((response) => {
    response.writeHead(200, { "content-type": "audio/pcm" });
    response.write(toneOf("ten letters"));
  });
  const { create, call } = await serveSlowModel(voice.env);
  const leaving = new AbortController();
  const heard = hear(await create(SPOKEN, leaving.signal));
  heard.whole.catch(() => {});
  const model = await call(0);
  model.say("This is the first sentence. And");
  await heard.first("response.output_audio.delta");
  leaving.abort();
  await Promise.all([voice.calls[0]?.closed, model.aborted]);
});

test("sound can be replayed, event by event", async () => {
  verifies("extensions.audio.replay");
  const voice = await serveVoice();
  const { server, create } = await serveBehind(says(TEXT), voice.env);
  const events = await hear(await create({ ...SPOKEN, stream_options: { include_obfuscation: false } })).whole;
  const created = eventsOf(events, "response.created")[0];
  const id = created?.response.id;
  const again = await hear(await server.fetch(`/v1/responses/${id}/events`)).whole;
  expect(again).toEqual(events);
  const rest = await hear(await server.fetch(`/v1/responses/${id}/events?starting_after=9`)).whole;
  expect(rest).toEqual(events.slice(10));
});

test("an answer that is not streamed is spoken for later readers of its events", async () => {
  const voice = await serveVoice();
  const { server, create } = await serveBehind(says(TEXT), voice.env);
  const spoken = await readResponse(await create({ output_audio: {} }));
  const plain = await readResponse(await create({}));
  expect(Object.keys(spoken)).toEqual(Object.keys(plain));
  expect(spoken.output).toMatchObject([{ content: [{ type: "output_text", text: TEXT }] }]);
  const events = await hear(await server.fetch(`/v1/responses/${spoken.id}/events`)).whole;
  expect(soundOf(events)).toEqual(Buffer.concat(SENTENCES.map(toneOf)));

  const queued = await readResponse(await create({ output_audio: {}, background: true }));
  await pollUntil(server, queued.id, "completed");
  const later = await hear(await server.fetch(`/v1/responses/${queued.id}/events`)).whole;
  expect(soundOf(later)).toEqual(soundOf(events));
});

test("a plain reply points to its sound", async () => {
  verifies("responses.audio.plain-reply-points-to-sound");
  const voice = await serveVoice();
  const { server, create } = await serveBehind(says(TEXT), voice.env);
  const whole = Buffer.concat(SENTENCES.map(toneOf));
  for (const [format, type, sound] of [
    ["pcm16", "audio/pcm", whole],
    ["wav", "audio/wav", Buffer.concat([wavHeader(24_000, null), whole])],
  ] as const) {
    const reply = await create({ output_audio: { format } });
    const path = reply.headers.get("x-antiphon-audio") ?? "";
    expect(path).toBe(`/v1/responses/${(await readResponse(reply)).id}/audio`);
    const audio = await server.fetch(path);
    expect([audio.status, audio.headers.get("content-type")]).toEqual([200, type]);
    expect(Buffer.from(await audio.arrayBuffer())).toEqual(sound);
  }
  const silent = await create({});
  expect(silent.headers.get("x-antiphon-audio")).toBeNull();
  const { id } = await readResponse(silent);
  expect((await server.fetch(`/v1/responses/${id}/audio`)).status).toBe(404);
  expect((await server.fetch("/v1/responses/resp_unknown/audio")).status).toBe(404);
});

test("the sound of a response that still runs is refused", async () => {
  const voice = await serveVoice();
  const { server, create, call } = await serveSlowModel(voice.env);
  const { id } = await readResponse(await create({ output_audio: {}, background: true }));
  const model = await call(0);
  expect((await server.fetch(`/v1/responses/${id}/audio`)).status).toBe(400);
  model.finish();
  await pollUntil(server, id, "completed");
});

test("a request without sound never gets sound events", async () => {
  verifies("responses.stream.audio-only-when-requested");
  const voice = await serveVoice();
  const { create } = await serveBehind(says(TEXT), voice.env);
  const { events } = await readStream(await create({ stream: true }));
  expect(events.filter(({ type }) => type.includes("audio"))).toEqual([]);
  expect(voice.calls).toEqual([]);
});

test("channels select sound or text", async () => {
  const voice = await serveVoice();
  const { create } = await serveBehind(says(TEXT), voice.env);
  const ask = async (channels: readonly string[]) => {
    const text = await (await create({ ...SPOKEN, stream_options: { channels } })).text();
    return new Set([...text.matchAll(/^event: response\.(\w*audio|output_text)\./gm)].map(([, name]) => name));
  };
  expect(await ask(["output_audio"])).toEqual(new Set(["output_audio", "audio"]));
  expect(await ask(["output_text"])).toEqual(new Set(["output_text"]));
});

test("sound events have the reference's members in its dialect", async () => {
  verifies("responses.stream.audio-envelope");
  const voice = await serveVoice();
  const { server, create } = await serveBehind(says(TEXT), voice.env);
  const { id } = await readResponse(await create({ output_audio: {} }));
  const { events } = await readStream(await server.fetch(`/v1/responses/${id}/events?dialect=reference`));
  const audio = events.filter(({ type }) => type.startsWith("response.audio."));
  const shapes = new Set(audio.map((event) => `${event.type} ${Object.keys(event).toSorted().join(" ")}`));
  expect(shapes).toEqual(
    new Set([
      "response.audio.transcript.delta delta sequence_number type",
      "response.audio.delta delta sequence_number type",
      "response.audio.done sequence_number type",
      "response.audio.transcript.done sequence_number type",
    ]),
  );
});
