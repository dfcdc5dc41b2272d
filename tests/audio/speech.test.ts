import { HAS_FFMPEG } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";
import { decode, espeakSamples, HAS_ESPEAK } from "../voices/programs.ts";
import { SERVER_RATE_HZ, serveVoice, speakWav, toneOf } from "../voices/serve-voice.ts";
import type { Door } from "./audio-servers.ts";

/** Each process speaks for itself. */
const SPEAKING_DOORS = ["Interface A", "Interface B"] as const satisfies readonly Door[];

const TEXT = "Good morning to all of you. The weather is fine today, and the sea is calm.";
const SENTENCES = ["Good morning to all of you.", "The weather is fine today, and the sea is calm."];

interface SpeakingServer {
  readonly client: OpenAI;
  readonly post: (body: unknown, signal?: AbortSignal) => Promise<Response>;
}

async function startSpeaking(door: Door, env: Readonly<Record<string, string>> = {}): Promise<SpeakingServer> {
  const { url, apiKey } = door === "Interface B" ? await startLocal(env) : await startTestServer({ env });
  return {
    client: new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }),
    post: (body, signal) =>
      fetch(`${url}/v1/audio/speech`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}` },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      }),
  };
}

async function startLocal(env: Readonly<Record<string, string>>) {
  const server = await startLocalSttServer({ env });
  onTestFinished(() => server.close());
  return { url: server.url, apiKey: "none" };
}

/** How long espeak-ng speaks the text, in seconds. */
function espeakSeconds(voice = "en"): number {
  return SENTENCES.reduce((sum, sentence) => sum + espeakSamples(sentence, voice), 0) / 22_050;
}

async function errorOf(reply: Response): Promise<unknown> {
  const { error } = await reply.json();
  return [reply.status, error];
}

describe.skipIf(!HAS_ESPEAK).each(SPEAKING_DOORS)("a text sent to %s", (door) => {
  test.skipIf(!HAS_FFMPEG).each([
    ["mp3", "audio/mpeg", /^mp3/],
    ["opus", "audio/ogg", /opus/],
    ["aac", "audio/aac", /aac/],
    ["flac", "audio/flac", /flac/],
    ["wav", "audio/wav", /pcm_s16le/],
  ] as const)("is spoken as %s, as the official SDK asks for it", async (format, type, description) => {
    verifies("audio.speech.formats");
    const { client } = await startSpeaking(door);
    const reply = await client.audio.speech.create({
      model: "tts-1",
      voice: "alloy",
      input: TEXT,
      response_format: format,
    });
    expect([reply.headers.get("content-type"), reply.headers.get("content-length")]).toEqual([type, null]);
    const { pcm, format: found } = decode(Buffer.from(await reply.arrayBuffer()), 24_000);
    expect(found).toMatch(description);
    expect(Math.abs(pcm.length / 48_000 - espeakSeconds())).toBeLessThan(0.25);
  });

  test("is spoken as samples without a header, and in events whose bytes are the same", async () => {
    verifies("audio.speech.formats");
    const { client, post } = await startSpeaking(door);
    const body = { model: "tts-1", voice: "alloy", input: TEXT, response_format: "pcm" } as const;
    const pcm = Buffer.from(await (await client.audio.speech.create(body)).arrayBuffer());
    expect(Math.abs(pcm.length / 48_000 - espeakSeconds())).toBeLessThan(0.1);
    const lines = (await (await post({ ...body, stream_format: "sse" })).text())
      .split("\n\n")
      .filter((line) => line !== "");
    const events = lines.map((line) => JSON.parse(line.replace(/^data: /, "")));
    const bytes = events.flatMap(({ type, audio }) =>
      type === "speech.audio.delta" ? [Buffer.from(audio, "base64")] : [],
    );
    expect(Buffer.concat(bytes).equals(pcm)).toBe(true);
    const tokens = Math.ceil((pcm.length / 48_000) * 20);
    expect(events.at(-1)).toEqual({
      type: "speech.audio.done",
      usage: {
        input_tokens: Math.ceil(TEXT.length / 4),
        output_tokens: tokens,
        total_tokens: Math.ceil(TEXT.length / 4) + tokens,
      },
    });
  });

  test.each([0.25, 0.5, 2, 4])("is spoken at %d times the speed", async (speed) => {
    verifies("audio.speech.speed");
    const { client } = await startSpeaking(door);
    const reply = await client.audio.speech.create({
      model: "m",
      voice: "nova",
      input: TEXT,
      response_format: "pcm",
      speed,
    });
    const seconds = (await reply.arrayBuffer()).byteLength / 48_000;
    const expected = espeakSeconds("en+f2") / speed;
    expect(Math.abs(seconds - expected) / expected).toBeLessThan(0.1);
  });

  test("is spoken by a voice that a header names, whatever name was asked for", async () => {
    verifies("audio.speech.voices");
    const { client, post } = await startSpeaking(door, { VOICE_NAME: "de" });
    for (const [voice, spokenBy] of [
      ["alloy", "espeak-ng de"],
      ["nova", "espeak-ng de+f2"],
      ["en-us", "espeak-ng en-us"],
      [{ id: "echo" }, "espeak-ng de+m4"],
      ["af_bella", "espeak-ng de"],
      [undefined, "espeak-ng de"],
    ] as const) {
      const reply = await post({ input: "Hi.", response_format: "pcm", voice });
      expect([voice, reply.status, reply.headers.get("x-antiphon-voice")]).toEqual([voice, 200, spokenBy]);
      await reply.arrayBuffer();
    }
    expect(await client.get("/audio/voices")).toMatchObject({
      voices: expect.arrayContaining([
        { id: "alloy", name: "alloy" },
        { id: "de", name: "de" },
      ]),
    });
  });
});

describe.each(SPEAKING_DOORS)("%s with a voice server", (door) => {
  test("sends the sound of the first sentence while a later one is held, and stops it when the client leaves", async () => {
    verifies("audio.speech.first-bytes", "audio.speech.client-leaves");
    const held = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    const voice = await serveVoice((response, asked, index) => {
      if (index === 0) return speakWav(response, asked);
      held.resolve();
      response.once("close", () => stopped.resolve());
      return undefined;
    });
    const { post } = await startSpeaking(door, voice.env);
    const leaving = new AbortController();
    const reply = await post({ model: "tts-1", voice: "alloy", input: TEXT, response_format: "pcm" }, leaving.signal);
    expect(reply.headers.get("x-antiphon-voice")).toBe("speech server alloy");
    const reader = reply.body?.getReader();
    const wanted = Math.floor((toneOf(SENTENCES[0] ?? "").length / 2) * (24_000 / SERVER_RATE_HZ)) * 2;
    let bytes = 0;
    while (bytes < wanted * 0.9) bytes += (await reader?.read())?.value?.length ?? Number.POSITIVE_INFINITY;
    expect(bytes).toBeLessThan(Number.POSITIVE_INFINITY);
    await held.promise;
    leaving.abort();
    await stopped.promise;
  });

  test("says that the voice failed, and cuts the sound if it has begun", async () => {
    verifies("audio.speech.refusals");
    const voice = await serveVoice((response, asked, index) => {
      if (index === 1) return speakWav(response, asked);
      response.writeHead(500);
      return response.end("{}");
    });
    const { post } = await startSpeaking(door, voice.env);
    const body = { model: "tts-1", voice: "alloy", input: TEXT, response_format: "pcm" };
    expect(await errorOf(await post(body))).toMatchObject([502, { code: "server_error" }]);
    const begun = await post(body);
    expect(begun.status).toBe(200);
    await expect(begun.arrayBuffer()).rejects.toThrow(/terminated/);
  });

  test.each([
    ["input", { input: "" }, "missing_required_parameter"],
    ["input", { input: "x".repeat(4097) }, "string_above_max_length"],
    ["input", { input: 7 }, "invalid_type"],
    ["input", { input: "```\ncode\n```" }, "invalid_value"],
    ["response_format", { response_format: "ogg" }, "invalid_value"],
    ["response_format", { response_format: "flac" }, "unsupported_value"],
    ["speed", { speed: 4.5 }, "decimal_above_max_value"],
    ["speed", { speed: 0.2 }, "decimal_below_min_value"],
    ["stream_format", { stream_format: "websocket" }, "invalid_value"],
  ])("refuses %s of %o", async (param, members, code) => {
    verifies("audio.speech.refusals", "audio.speech.formats");
    const voice = await serveVoice();
    const { post } = await startSpeaking(door, { ...voice.env, FFMPEG_PATH: "/nowhere/ffmpeg" });
    const reply = await post({ model: "tts-1", voice: "alloy", input: "Hi.", ...members });
    expect(await errorOf(reply)).toMatchObject([400, { type: "invalid_request_error", param, code }]);
    expect(voice.calls).toEqual([]);
  });
});
