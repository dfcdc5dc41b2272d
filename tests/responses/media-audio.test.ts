import { SpeechError } from "@antiphon/speech/recognition/speech-engine.ts";
import { describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, says, serveBehind } from "./behind-upstream.ts";
import { checkReply, type Refusal } from "./check-refusal.ts";
import { MP3, OGG, PCM, WAV, wav } from "./media-samples.ts";
import { readResponse } from "./read-stream.ts";
import { serveTranscriptions, type Transcription, type TranscriptionServer } from "./transcription-server.ts";

const AUDIO_INPUT = { MODEL_INPUT: "text,audio" };
const KEY = "sk-key-of-the-transcription-server";

const hearing = (audio: object, ...before: readonly object[]): object => ({
  input: [{ role: "user", content: [...before, { type: "input_audio", input_audio: audio }] }],
});

async function checkAsked(behind: BehindUpstream, members: object, content: unknown): Promise<void> {
  const reply = await behind.create(members);
  expect(reply.status, await reply.text()).toBe(200);
  expect(behind.asked()).toMatchObject({ messages: [{ role: "user", content }] });
}

const part = (data: string, format: string): object[] => [{ type: "input_audio", input_audio: { data, format } }];
const base64 = (bytes: Buffer): string => bytes.toString("base64");

describe("a recording for a model with audio input", () => {
  verifies("media.audio.heard-or-transcribed", "chat-engine.upstream.images-and-files-map");
  test.each([
    ["wav unchanged", { data: WAV, format: "wav" }, part(WAV, "wav")],
    ["mp3 unchanged", { data: MP3, format: "mp3" }, part(MP3, "mp3")],
    ["what it is, whatever it is called", { data: MP3, format: "wav" }, part(MP3, "mp3")],
    [
      "pcm as wav",
      { data: base64(PCM), format: "pcm", sample_rate_hz: 24_000 },
      part(base64(wav(PCM, 24_000, 1)), "wav"),
    ],
    [
      "pcm of two channels as wav",
      { data: base64(PCM), format: "pcm", sample_rate_hz: 48_000, channels: 2 },
      part(base64(wav(PCM, 48_000, 2)), "wav"),
    ],
  ])("is sent as %s", async (_title, audio, content) => {
    await checkAsked(await serveBehind(says("I hear."), AUDIO_INPUT), hearing(audio), content);
  });

  test("may be at the top level of input", async () => {
    const element = { type: "input_audio", data: base64(PCM), format: "pcm", sample_rate_hz: 16_000, channels: 1 };
    const behind = await serveBehind(says("I hear."), AUDIO_INPUT);
    await checkAsked(behind, { input: [element] }, part(WAV, "wav"));
  });

  test("is transcribed if the model does not accept its format", async () => {
    const { behind, tape } = await serveWithoutAudioInput({}, AUDIO_INPUT);
    await checkAsked(behind, hearing({ data: OGG, format: "ogg" }), "Hello from the tape.");
    expect(tape.received).toHaveLength(1);
  });
});

async function serveWithoutAudioInput(
  answer: Transcription = {},
  env: Readonly<Record<string, string>> = {},
): Promise<{ behind: BehindUpstream; tape: TranscriptionServer }> {
  const tape = await serveTranscriptions(answer);
  const settings = { TRANSCRIPTION_BASE_URL: tape.baseUrl, TRANSCRIPTION_API_KEY: KEY, TRANSCRIPTION_MODEL: "ears-1" };
  return { tape, behind: await serveBehind(says("I read."), { ...settings, ...env }) };
}

describe("a recording for a model without audio input", () => {
  verifies("media.audio.heard-or-transcribed", "extensions.input.audio-members");
  test("is transcribed with its known properties, and used like typed text", async () => {
    const { behind, tape } = await serveWithoutAudioInput();
    const pcm = { data: base64(PCM), format: "pcm", sample_rate_hz: 16_000, language_hint: "de-CH" };
    await checkAsked(behind, hearing(pcm), "Hello from the tape.");
    expect(tape.received).toMatchObject([
      {
        path: "/v1/audio/transcriptions",
        headers: { authorization: `Bearer ${KEY}` },
        fields: { model: "ears-1", language: "de", response_format: "json" },
        type: "audio/wav",
        filename: "recording.wav",
        bytes: wav(PCM, 16_000, 1),
      },
    ]);
  });

  test.each([
    ["mp3", MP3, "audio/mpeg", "recording.mp3"],
    ["ogg", OGG, "audio/ogg", "recording.ogg"],
    ["wav", WAV, "audio/wav", "recording.wav"],
  ])("is sent as %s to be transcribed", async (format, sound, type, filename) => {
    const { behind, tape } = await serveWithoutAudioInput();
    await checkAsked(behind, hearing({ data: sound, format }), "Hello from the tape.");
    expect(tape.received).toMatchObject([{ type, filename, bytes: Buffer.from(sound, "base64") }]);
    expect(tape.received[0]?.fields).not.toHaveProperty("language");
  });

  test("is marked as a recording, unlike text beside it", async () => {
    const { behind } = await serveWithoutAudioInput();
    await checkAsked(behind, hearing({ data: WAV, format: "wav" }, { type: "input_text", text: "Sum it up:" }), [
      { type: "text", text: "Sum it up:" },
      { type: "text", text: "Transcript of a recording:\nHello from the tape." },
    ]);
  });

  test("without speech is reported as such", async () => {
    const { behind } = await serveWithoutAudioInput({ body: { text: " " } });
    await checkAsked(behind, hearing({ data: WAV, format: "wav" }), "[A recording in which nothing is said]");
  });

  verifies("media.text.read-once");
  test("is listed as sent, stays in its chain, and is transcribed once", async () => {
    const { behind, tape } = await serveWithoutAudioInput();
    const audio = { data: WAV, format: "wav", language_hint: "en" };
    let previous = (await readResponse(await behind.create(hearing(audio)))).id;
    const listed = await (await behind.server.fetch(`/v1/responses/${previous}/input_items`)).json();
    expect(listed).toMatchObject({ data: [{ content: [{ type: "input_audio", input_audio: audio }] }] });
    for (let turn = 0; turn < 3; turn++) {
      const reply = await behind.create({ previous_response_id: previous, input: "And?" });
      previous = (await readResponse(reply)).id;
      expect(behind.asked()).toMatchObject({ messages: [{ content: "Hello from the tape." }, {}, {}, ...more(turn)] });
    }
    expect(tape.received).toHaveLength(1);
  });

  test("reaches the built-in engine as its transcript", async () => {
    const tape = await serveTranscriptions({ body: { text: "What is 6 * 7?" } });
    const server = await startTestServer({ env: { TRANSCRIPTION_BASE_URL: tape.baseUrl } });
    const members = hearing({ data: WAV, format: "wav" });
    const reply = await server.post("/v1/responses", { model: "antiphon-built-in", ...members });
    expect(await reply.text()).toContain("42");
    await server.close();
  });

  test("is no longer transcribed once its sender has left", async () => {
    const { behind, tape } = await serveWithoutAudioInput({ isSilent: true });
    const leaving = new AbortController();
    const asked = behind.create(hearing({ data: WAV, format: "wav" }), leaving.signal);
    await expect.poll(() => tape.received.length).toBe(1);
    leaving.abort();
    await expect(asked).rejects.toThrow("aborted");
    await tape.received[0]?.closed;
    expect(behind.upstream.calls).toEqual([]);
  });
});

function more(turns: number): object[] {
  return Array.from({ length: 2 * turns }, () => ({}));
}

const DATA = "input[0].content[0].input_audio.data";
const UNFIT: Readonly<Record<string, readonly [audio: object, refusal: Refusal]>> = {
  "that is empty": [
    { data: "", format: "wav" },
    { code: "invalid_value", param: DATA, message: "Invalid audio: it is empty." },
  ],
  "that is not base64": [
    { data: "!", format: "wav" },
    { code: "invalid_value", param: DATA, message: "Invalid audio: 'data' is not base64." },
  ],
  "that is not a recording": [
    { data: "AAAA", format: "mp3" },
    {
      code: "invalid_value",
      param: DATA,
      message: "Invalid audio: it is declared as mp3, but is not wav, mp3 or ogg.",
    },
  ],
  "that is too large": [
    { data: base64(Buffer.alloc(5000)), format: "pcm", sample_rate_hz: 8000 },
    { code: "invalid_value", param: DATA, message: "Invalid audio: it is larger than 4096 bytes." },
  ],
  "of pcm at no rate": [
    { data: base64(PCM), format: "pcm" },
    {
      code: "missing_required_parameter",
      param: "input[0].content[0].input_audio.sample_rate_hz",
      message: /'sample_rate_hz'/,
    },
  ],
  "of pcm in half samples": [
    { data: base64(PCM.subarray(1)), format: "pcm", sample_rate_hz: 8000 },
    { code: "invalid_value", param: DATA, message: /7 bytes are not whole samples\.$/ },
  ],
  "of pcm in more channels than there are": [
    { data: base64(PCM), format: "pcm", sample_rate_hz: 8000, channels: 9 },
    { code: "invalid_value", param: DATA, message: "Invalid audio: it has more than 8 channels." },
  ],
};

describe("before a run starts, a recording", () => {
  test.each(Object.entries(UNFIT))("%s is refused", async (_title, [audio, refusal]) => {
    for (const env of [AUDIO_INPUT, { TRANSCRIPTION_BASE_URL: "http://127.0.0.1:1/v1" }]) {
      const behind = await serveBehind(says("Hi"), { ...env, INPUT_AUDIO_BYTES_MAX: "4096" });
      await checkReply(await behind.create({ ...hearing(audio), stream: true }), refusal);
      expect(behind.upstream.calls).toEqual([]);
    }
  });

  test.each([
    ["while the speech engine loads", "loading", "The speech engine is loading its model", "5"],
    ["while too many others wait", "busy", "Too many recordings wait", "1"],
  ] as const)("%s is asked for again later", async (_title, reason, message, seconds) => {
    verifies("media.audio.not-ready-is-503");
    const behind = await serveBehind(
      says("Hi"),
      {},
      {
        warning: () => null,
        transcribeFile: () => Promise.reject(new SpeechError(reason, message)),
      },
    );
    const reply = await behind.create(hearing({ data: WAV, format: "wav" }));
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, seconds]);
    expect(await reply.json()).toMatchObject({ error: { code: "server_is_overloaded", message: `${message}.` } });
    expect(behind.upstream.calls).toEqual([]);
  });

  verifies("media.audio.clear-refusal");
  test("that cannot be used or transcribed is refused, and the error names the settings to change", async () => {
    const behind = await serveBehind(says("Hi"));
    const message =
      /does not hear audio in the format 'wav', and no transcription is set up\..*TRANSCRIPTION_BASE_URL.*MODEL_INPUT/;
    const param = "input[0].content[0].input_audio";
    const refusal = { code: "unsupported_value", param, message };
    await checkReply(await behind.create(hearing({ data: WAV, format: "wav" })), refusal);
  });

  test.each([
    [
      "an error",
      { status: 400, body: { error: { message: "Audio file is broken." } } },
      /recording: Audio file is broken\.$/,
    ],
    ["its details", { status: 422, body: { detail: "too short" } }, /recording: too short\.$/],
    ["nothing", { status: 415, body: {} }, /refused the recording\.$/],
    ["its key", { status: 400, body: { error: `not for ${KEY}` } }, /recording: not for \*\*\*\.$/],
  ])("that the transcription server refuses with %s is refused", async (_title, answer, message) => {
    const { behind } = await serveWithoutAudioInput(answer);
    const reply = await behind.create(hearing({ data: WAV, format: "wav" }));
    await checkReply(reply, { code: "invalid_value", param: DATA, message });
  });

  test.each([
    ["fails", { status: 500, body: { error: { message: `secret ${KEY}` } } }, "answered with status 500"],
    ["does not take our key", { status: 401, body: {} }, "answered with status 401"],
    ["answers nonsense", { body: { words: 3 } }, "sent an answer without text"],
    ["is silent", { isSilent: true }, "did not answer in time"],
  ])("is answered by 502 where the transcription server %s", async (_title, answer, deed) => {
    const { behind } = await serveWithoutAudioInput(answer, { TRANSCRIPTION_TIMEOUT_MS: "300" });
    const reply = await behind.create(hearing({ data: WAV, format: "wav" }));
    const message = `The transcription server ${deed}.`;
    await checkReply(reply, { status: 502, type: "server_error", code: "server_error", param: null, message });
    expect(behind.upstream.calls).toEqual([]);
  });

  test("gets 502 if no transcription server listens", async () => {
    const behind = await serveBehind(says("Hi"), { TRANSCRIPTION_BASE_URL: "http://127.0.0.1:1/v1" });
    const reply = await behind.create(hearing({ data: WAV, format: "wav" }));
    const message = "The transcription server could not be reached.";
    await checkReply(reply, { status: 502, type: "server_error", code: "server_error", param: null, message });
  });
});
