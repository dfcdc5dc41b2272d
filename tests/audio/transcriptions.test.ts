import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { program } from "../local-stt/tone-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { type AudioServer, DOORS, openAudioServer, recordingForm, startAudioServer } from "./audio-servers.ts";
import { type ReadCue, readSrt, readVtt } from "./read-subtitles.ts";

/** Two recordings with three seconds of silence between them. */
const PARTS = [500, "three", 400, "one", 3000, "four", 500] as const;
const RECORDING = recording(PARTS);
const SECONDS = 5.3;
/** When each word really begins and ends, in seconds. */
const TRUTH = [
  { word: "three", start: 0.5, end: 0.8 },
  { word: "one", start: 1.2, end: 1.5 },
  { word: "four", start: 4.5, end: 4.8 },
];
const USAGE = { type: "duration", seconds: SECONDS };
/** The error of word times that is allowed, in seconds. */
const TIME_ERROR_MAX = 0.12;

function recording(parts: readonly (ToneWord | number)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(wavFile(sound(...parts), 16_000));
}

function upload(bytes = RECORDING): ReturnType<typeof toFile> {
  return toFile(bytes, "recording.wav", { type: "audio/wav" });
}

describe.skipIf(program === null).each(DOORS)("a recording sent to %s", (door) => {
  let server: AudioServer;
  beforeAll(async () => {
    server = await openAudioServer(door, { env: { BACKEND_MAX_UPLOAD_MB: "1" } });
  });
  afterAll(() => server.close());

  test("comes back in every format that the official SDK asks for", async () => {
    verifies("audio.transcriptions.formats");
    const { client } = server;
    const create = client.audio.transcriptions;
    const file = await upload();
    const json = await create.create({ file, model: "whisper-1" });
    expect(json).toEqual({ text: "three one four", languages: [{ code: "en" }], usage: USAGE });
    expect(await create.create({ file, model: "", response_format: "text" })).toBe("three one four\n");
    const verbose = await create.create({ file, model: "any", response_format: "verbose_json" });
    expect(verbose).toMatchObject({ text: "three one four", language: "english", duration: SECONDS, usage: USAGE });
    const cues = [
      { text: "three one", start: 0.5, end: 1.5 },
      { text: "four", start: 4.5, end: 4.8 },
    ];
    expectCues(readSrt(await create.create({ file, model: "m", response_format: "srt" })), cues);
    expectCues(readVtt(await create.create({ file, model: "m", response_format: "vtt" })), cues);
  });

  test("has the times that the granularities ask for, with and without brackets, and no others", async () => {
    verifies("audio.transcriptions.granularities");
    const { client, post } = server;
    const shape = { file: await upload(), model: "m", response_format: "verbose_json" } as const;
    const words = await client.audio.transcriptions.create({ ...shape, timestamp_granularities: ["word"] });
    expect(words).not.toHaveProperty("segments");
    expectWords(words.words);
    const both = await client.audio.transcriptions.create({ ...shape, timestamp_granularities: ["word", "segment"] });
    expect(both).toMatchObject({ words: words.words, segments: [{ id: 0 }, { id: 1 }] });
    for (const [granularities, names] of [
      [{}, ["segments"]],
      [{ timestamp_granularities: "segment" }, ["segments"]],
      [{ timestamp_granularities: "word" }, ["words"]],
      [{ timestamp_granularities: ["word", "segment"] }, ["segments", "words"]],
      [{ "timestamp_granularities[]": "word" }, ["words"]],
    ] as const) {
      const reply = await post(
        "/transcriptions",
        recordingForm(RECORDING, { response_format: "verbose_json", ...granularities }),
      );
      const present = Object.keys(await reply.json()).filter((name) => name === "words" || name === "segments");
      expect([granularities, present.toSorted()]).toEqual([granularities, names]);
    }
  });

  test("has segments with what the engine says about their quality", async () => {
    verifies("audio.transcriptions.segments");
    const { client } = server;
    const { segments = [] } = await client.audio.transcriptions.create({
      file: await upload(),
      model: "m",
      response_format: "verbose_json",
    });
    expect(segments.map(({ id, text }) => [id, text])).toEqual([
      [0, " three one"],
      [1, " four"],
    ]);
    for (const { tokens, avg_logprob, compression_ratio, no_speech_prob, temperature } of segments) {
      expect(tokens.length).toBeGreaterThan(0);
      expect(avg_logprob).toBeGreaterThan(-0.5);
      expect(compression_ratio).toBeGreaterThan(0.1);
      expect(no_speech_prob).toBeLessThan(0.5);
      expect(temperature).toBe(0);
    }
    expect(segments[1]?.seek).toBeGreaterThan(400);
  });

  test("is streamed word by word, with a last event that has the usage", async () => {
    verifies("audio.transcriptions.stream");
    const { client, post } = server;
    const stream = await client.audio.transcriptions.create({
      file: await upload(),
      model: "gpt-4o-transcribe",
      stream: true,
      include: ["logprobs"],
    });
    const events = await Array.fromAsync(stream);
    expect(events.map((event) => (event.type === "transcript.text.delta" ? event.delta : event.type))).toEqual([
      "three one",
      " four",
      "transcript.text.done",
    ]);
    expect(events.at(-1)).toMatchObject({ text: "three one four", usage: USAGE, logprobs: { length: 3 } });
    const raw = await (await post("/transcriptions", recordingForm(RECORDING, { stream: "true" }))).text();
    expect(raw.split("\n").filter((line) => line !== "" && !line.startsWith("data: {"))).toEqual([]);
  });

  test("shows the probabilities of its tokens in the format json only", async () => {
    verifies("audio.transcriptions.logprobs");
    const { client, post } = server;
    const { logprobs = [] } = await client.audio.transcriptions.create({
      file: await upload(),
      model: "m",
      include: ["logprobs"],
    });
    expect(logprobs.map(({ token }) => token)).toEqual([" three", " one", " four"]);
    expect(logprobs[0]?.bytes).toEqual([...Buffer.from(" three")]);
    for (const { logprob = 1 } of logprobs) expect(logprob).toBeLessThanOrEqual(0);
    const form = recordingForm(RECORDING, { "include[]": "logprobs", response_format: "text" });
    expect(await errorOf(await post("/transcriptions", form))).toMatchObject([
      400,
      { code: "unsupported_value", param: "include" },
    ]);
  });

  test.each([
    ["a language that the model knows", { language: "en" }],
    ["languages", { "languages[]": ["en"] }],
    ["a temperature", { temperature: "0" }],
    ["chunking", { chunking_strategy: "auto" }],
    [
      "chunking by numbers",
      { "chunking_strategy[type]": "server_vad", "chunking_strategy[silence_duration_ms]": "300" },
    ],
    ["chunking as JSON", { chunking_strategy: '{"type":"server_vad","threshold":0.4}' }],
    ["members that nobody knows", { vad_filter: "true", hotwords: "x" }],
  ])("may have %s", async (_what, parts) => {
    verifies("audio.transcriptions.members");
    const { post } = server;
    const reply = await post("/transcriptions", recordingForm(RECORDING, parts));
    expect([reply.status, await reply.json()]).toMatchObject([200, { text: "three one four" }]);
  });

  // After a word in its prompt, the model of tones does not say it again.
  test.each([{ prompt: "hello one" }, { "keywords[]": ["hello", "one"] }, { keywords: "hello one" }])(
    "is heard with %o in mind",
    async (parts) => {
      verifies("audio.transcriptions.members");
      const reply = await server.post("/transcriptions", recordingForm(RECORDING, parts));
      expect(await reply.json()).toMatchObject({ text: "three four" });
    },
  );

  test.each([
    ["response_format", { response_format: "diarized_json" }, "unsupported_value"],
    ["response_format", { response_format: "xml" }, "invalid_value"],
    ["language", { language: "de" }, "unsupported_value"],
    ["language", { language: "english!" }, "invalid_value"],
    ["languages", { "languages[]": ["en", "de"] }, "unsupported_value"],
    ["temperature", { temperature: "2" }, "decimal_above_max_value"],
    ["temperature", { temperature: "warm" }, "invalid_type"],
    ["timestamp_granularities", { "timestamp_granularities[]": "letter" }, "invalid_value"],
    ["include", { "include[]": "everything" }, "invalid_value"],
    ["chunking_strategy", { chunking_strategy: "never" }, "invalid_value"],
    ["known_speaker_names", { "known_speaker_names[]": "agent" }, "unsupported_value"],
    ["prompt", { prompt: "x".repeat(8001) }, "string_above_max_length"],
    ["stream", { stream: "perhaps" }, "invalid_value"],
  ])("is refused by the name %s with %o", async (param, parts, code) => {
    verifies("audio.transcriptions.refusals");
    const { post } = server;
    const reply = await post("/transcriptions", recordingForm(RECORDING, parts));
    expect(await errorOf(reply)).toMatchObject([400, { type: "invalid_request_error", param, code }]);
  });

  test("in which nothing is said is an empty text", async () => {
    verifies("audio.transcriptions.formats");
    const { post } = server;
    const silence = recording([2000]);
    for (const [format, text] of [
      ["json", '"text"'],
      ["text", "\n"],
      ["srt", ""],
      ["vtt", "WEBVTT\n\n"],
      ["verbose_json", '"segments"'],
    ] as const) {
      const reply = await post("/transcriptions", recordingForm(silence, { response_format: format }));
      expect([format, reply.status, await reply.text()]).toEqual([format, 200, expect.stringContaining(text)]);
    }
  });

  test("that cannot be read, is missing or is too large is refused", async () => {
    verifies("audio.transcriptions.bad-recordings");
    const { post } = server;
    const send = async (bytes: Uint8Array<ArrayBuffer>, parts = {}) =>
      errorOf(await post("/transcriptions", recordingForm(bytes, parts)));
    const broken = { type: "invalid_request_error", param: "file", code: "invalid_value" };
    expect(await send(new Uint8Array(Buffer.from("no sound at all")))).toMatchObject([400, broken]);
    expect(await send(new Uint8Array(0))).toMatchObject([400, broken]);
    expect(await send(RECORDING.slice(0, 144), { stream: "true" })).toMatchObject([400, broken]);
    expect((await send(new Uint8Array(2_500_000)))[0]).toBe(413);
    const empty = new FormData();
    empty.append("model", "m");
    expect(await errorOf(await post("/transcriptions", empty))).toMatchObject([
      400,
      { param: "file", code: "missing_required_parameter" },
    ]);
  });

  test("cannot be translated by a model that knows English only", async () => {
    verifies("audio.translations.multilingual-only");
    const { client } = server;
    const translation = client.audio.translations.create({ file: await upload(), model: "whisper-1" });
    await expect(translation).rejects.toMatchObject({ status: 400, code: "unsupported_value", param: "model" });
  });

  test("is heard by a model that is listed", async () => {
    verifies("audio.models.listed");
    const { client } = server;
    expect(await client.get("/audio/models")).toEqual({ models: [{ id: expect.stringContaining("tone-words") }] });
  });
});

describe.skipIf(program === null)("the audio routes", () => {
  test("need a key on Interface A and none on Interface B", async () => {
    verifies("audio.access.keys");
    for (const [door, status] of [
      ["Interface A", 401],
      ["Interface B", 200],
    ] as const) {
      const { url } = await startAudioServer(door);
      const reply = await fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body: recordingForm(RECORDING) });
      expect([door, reply.status]).toEqual([door, status]);
    }
  });

  test("answer alike in a process without the engine", async () => {
    verifies("audio.access.processes");
    const near = await startAudioServer("Interface A");
    const far = await startAudioServer("another process of Interface A");
    for (const parts of [
      { response_format: "verbose_json", "timestamp_granularities[]": ["word", "segment"] },
      { response_format: "vtt" },
      { stream: "true", "include[]": "logprobs" },
      { language: "de" },
    ]) {
      const answers = await Promise.all(
        [near, far].map(async ({ post }) => {
          const reply = await post("/transcriptions", recordingForm(RECORDING, parts));
          return [reply.status, reply.headers.get("content-type"), await reply.text()];
        }),
      );
      expect(answers[1]).toEqual(answers[0]);
    }
  });

  test("have the guard of Interface B against foreign pages", async () => {
    verifies("audio.access.foreign-pages");
    const { url } = await startAudioServer("Interface B");
    const headers = { origin: "https://elsewhere.example" };
    const reply = await fetch(`${url}/v1/audio/transcriptions`, {
      method: "POST",
      body: recordingForm(RECORDING),
      headers,
    });
    expect(await errorOf(reply)).toMatchObject([403, { code: "origin_not_allowed", param: null }]);
  });

  test("count against the requests of a key", async () => {
    verifies("audio.access.limits");
    const { post } = await startAudioServer("Interface A", { env: { RATE_LIMIT_REQUESTS_PER_MINUTE: "1" } });
    const first = await post("/transcriptions", recordingForm(RECORDING));
    expect([first.status, first.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "0"]);
    expect((await post("/transcriptions", recordingForm(RECORDING))).status).toBe(429);
  });
});

async function errorOf(reply: Response): Promise<[status: number, error: Readonly<Record<string, unknown>>]> {
  const { error } = await reply.json();
  return [reply.status, error];
}

function expectWords(words: readonly { word: string; start: number; end: number }[] = []): void {
  expect(words.map(({ word }) => word)).toEqual(TRUTH.map(({ word }) => word));
  for (const [index, { start, end }] of TRUTH.entries()) {
    const word = words[index];
    expect(Math.abs((word?.start ?? 99) - start), `${word?.word} starts at ${word?.start}`).toBeLessThan(
      TIME_ERROR_MAX,
    );
    expect(Math.abs((word?.end ?? 99) - end), `${word?.word} ends at ${word?.end}`).toBeLessThan(TIME_ERROR_MAX);
  }
}

function expectCues(cues: readonly ReadCue[], truth: readonly ReadCue[]): void {
  expect(cues.map(({ text }) => text)).toEqual(truth.map(({ text }) => text));
  for (const [index, { start, end }] of truth.entries()) {
    expect(Math.abs((cues[index]?.start ?? 99) - start)).toBeLessThan(TIME_ERROR_MAX);
    expect(Math.abs((cues[index]?.end ?? 99) - end)).toBeLessThan(TIME_ERROR_MAX);
  }
}
