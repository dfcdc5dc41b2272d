import { once } from "node:events";
import { request } from "node:http";
import { silentLogger } from "@antiphon/base/logger.ts";
import {
  encoded,
  encodedFile,
  HAS_FFMPEG,
  soundFoldersOf,
  wavFile,
} from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, test } from "vitest";
import { startLocalSttServer } from "../local-stt-server.ts";
import { sound, tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { program, startToneServer } from "./tone-server.ts";

const SPOKEN = wavFile(tones("nine", "zero", "five"), 16_000);

async function upload(
  url: string,
  parts: Readonly<Record<string, Uint8Array | string>>,
  path = "/transcribe",
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>>; readonly headers: Headers }> {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === "string") form.set(name, part);
    else form.set(name, new Blob([Uint8Array.from(part)]), "recording.bin"); // Neither name nor type shows the format.
  }
  const reply = await fetch(`${url}${path}`, { method: "POST", body: form });
  return { status: reply.status, body: await reply.json(), headers: reply.headers };
}

describe.skipIf(program === null)("a recording", () => {
  test("returns its words and its length", async () => {
    verifies("stt.transcribe.returns-text");
    const server = await startToneServer();
    const { status, body } = await upload(server.url, { audio: SPOKEN });
    expect([status, body]).toEqual([200, { text: "nine zero five", duration_ms: 1800, language: "en" }]);
  });

  test.each(["/transcribe", "/stt_and_format"])("to %s may name its language, if the model knows it", async (path) => {
    verifies("stt.transcribe.language");
    const server = await startToneServer();
    for (const language of ["en", "EN-us", "auto"]) {
      const { status, body } = await upload(server.url, { audio: SPOKEN, language }, path);
      expect([status, body["text"], body["language"]]).toEqual([200, "nine zero five", "en"]);
    }
    for (const [language, code] of [
      ["de", "unsupported_language"],
      ["german!", "invalid_request"],
      ["", "invalid_request"],
    ] as const) {
      const { status, body } = await upload(server.url, { audio: SPOKEN, language }, path);
      expect([status, body["error"]]).toMatchObject([400, { code }]);
    }
  });

  test.skipIf(!HAS_FFMPEG)("gives the same words in every format, rate and number of channels", async () => {
    verifies("stt.transcribe.reads-five-formats", "stt.transcribe.any-sample-rate");
    const server = await startToneServer();
    const files = {
      mp3: encoded(SPOKEN, "-ar", "44100", "-ac", "2", "-f", "mp3"),
      m4a: encodedFile(SPOKEN, "m4a"),
      flac: encoded(SPOKEN, "-ar", "44100", "-ac", "2", "-f", "flac"),
      webm: encoded(SPOKEN, "-ac", "2", "-c:a", "libopus", "-f", "webm"),
      live: encoded(SPOKEN, "-c:a", "libopus", "-live", "1", "-f", "webm"),
      ogg: encoded(SPOKEN, "-c:a", "libopus", "-f", "ogg"),
      aac: encoded(SPOKEN, "-c:a", "aac", "-f", "adts"),
      aiff: encodedFile(SPOKEN, "aiff"),
      caf: encodedFile(SPOKEN, "caf"),
      "mu-law": encoded(SPOKEN, "-c:a", "pcm_mulaw", "-f", "wav"),
      ...Object.fromEntries(
        [11_025, 22_050, 44_100, 48_000, 96_000].map((rate) => [
          `wav ${rate}`,
          encoded(SPOKEN, "-ar", String(rate), "-ac", "2", "-f", "wav"),
        ]),
      ),
    };
    for (const [name, audio] of Object.entries(files))
      expect([name, (await upload(server.url, { audio })).body["text"]]).toEqual([name, "nine zero five"]);
  });

  test("without speech gives empty text", async () => {
    verifies("stt.transcribe.silence-is-empty-text");
    const server = await startToneServer();
    const { status, body } = await upload(server.url, { audio: wavFile(sound(4000), 16_000) });
    expect([status, body]).toEqual([200, { text: "", duration_ms: 4000 }]);
  });

  test("that is longer than the engine's window gives all its words in order", async () => {
    const server = await startToneServer();
    const long = sound("one", 12_000, "two", 300, "three", 17_000, "four", 9000, "one", 20_000, "five");
    expect((await upload(server.url, { audio: wavFile(long, 16_000) })).body["text"]).toBe(
      "one two three four one five",
    );
  });

  test("that cannot be read is refused with the reason", async () => {
    verifies(
      "stt.transcribe.unsupported-format",
      "stt.transcribe.missing-audio-is-400",
      "stt.transcribe.no-sound-is-400",
    );
    verifies("stt.errors.http-shape");
    const server = await startToneServer();
    const cases: readonly (readonly [
      parts: Readonly<Record<string, Uint8Array | string>>,
      status: number,
      code: string,
    ])[] = [
      [{ audio: Buffer.from("certainly no sound") }, 415, "unsupported_format"],
      [{ audio: Buffer.alloc(0) }, 400, "empty_audio"],
      [{ audio: wavFile(new Int16Array(0), 16_000) }, 400, "empty_audio"],
      [{ audio: SPOKEN.subarray(0, 20_000) }, 400, "invalid_audio"],
      [{ audio: Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(500, 7)]) }, 400, "invalid_audio"],
      [{ audio: "a text" }, 400, "missing_audio"],
      [{}, 400, "missing_audio"],
      [{ audio: SPOKEN, extra: "x" }, 400, "invalid_request"],
    ];
    for (const [parts, status, code] of cases)
      expect(await upload(server.url, parts)).toMatchObject({
        status,
        body: { error: { code, message: expect.any(String) } },
      });
    const { body } = await upload(server.url, { audio: Buffer.from("certainly no sound") });
    expect(JSON.stringify(body)).toContain("Unsupported format");
  });

  test("in a body that is not a form is refused", async () => {
    const server = await startToneServer();
    const reply = await fetch(`${server.url}/transcribe`, {
      method: "POST",
      headers: { "content-type": "audio/wav" },
      body: Uint8Array.from(SPOKEN),
    });
    expect([reply.status, await reply.json()]).toMatchObject([415, { error: { code: "unsupported_media_type" } }]);
  });

  test("that lasts longer than allowed is refused", async () => {
    const server = await startToneServer({ env: { STT_RECORDING_MAX: "1s" } });
    expect(await upload(server.url, { audio: SPOKEN })).toMatchObject({
      status: 400,
      body: { error: { code: "audio_too_long" } },
    });
  });

  test("of just under 20 MB is accepted, and a larger one refused", { timeout: 60_000 }, async () => {
    verifies("stt.transcribe.limit-is-20-mb-by-default", "stt.transcribe.too-large-is-413");
    const server = await startToneServer();
    const spoken = tones("six");
    const samples = new Int16Array(10 * 1024 * 1024 - 1000);
    samples.set(spoken, samples.length - spoken.length);
    expect((await upload(server.url, { audio: wavFile(samples, 16_000) })).body["text"]).toBe("six");
    expect(await upload(server.url, { audio: Buffer.alloc(20 * 1024 * 1024 + 1) })).toMatchObject({
      status: 413,
      body: { error: { code: "upload_too_large" } },
    });
  });

  test("that is too large is refused before it is read", async () => {
    verifies("stt.transcribe.limit-is-configurable", "stt.transcribe.too-large-is-413");
    const server = await startToneServer({ env: { BACKEND_MAX_UPLOAD_MB: "1" } });
    const call = request(`${server.url}/transcribe`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x", "content-length": String(500 * 1024 * 1024) },
    });
    call.on("error", () => {});
    call.write("--x\r\n"); // And not one byte more.
    const [reply] = await once(call, "response");
    expect(reply.statusCode).toBe(413);
    call.destroy();
    expect((await upload(server.url, { audio: Buffer.alloc(1024 * 1024 + 1) })).status).toBe(413);
    expect((await upload(server.url, { audio: SPOKEN })).status).toBe(200);
  });

  test.skipIf(!HAS_FFMPEG)("leaves no file behind, and no words in the log", async () => {
    verifies("stt.transcribe.leaves-no-files");
    const lines: string[] = [];
    const hear = (fields: object, message: string): void => void lines.push(JSON.stringify([fields, message]));
    const server = await startToneServer({ log: { debug: hear, info: hear, warn: hear, error: hear } });
    expect((await upload(server.url, { audio: encodedFile(SPOKEN, "m4a") })).body["text"]).toBe("nine zero five");
    expect(soundFoldersOf(process.pid)).toEqual([]);
    expect(lines.join("\n")).not.toMatch(/nine|zero five/);
    expect(lines.length).toBeGreaterThan(0);
  });

  test("does not delay /healthz while it is transcribed", async () => {
    verifies("stt.health.answers-while-busy", "stt.health.reports-ok");
    const server = await startToneServer();
    const work = upload(server.url, {
      audio: wavFile(sound(...Array.from({ length: 40 }, (): ("one" | number)[] => ["one", 1000]).flat()), 16_000),
    });
    const startedAt = performance.now();
    expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ ok: true });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect((await work).status).toBe(200);
  });
});

test("without a model, transcription is refused", async () => {
  verifies("stt.health.not-ok-while-loading");
  const server = await startLocalSttServer({ log: silentLogger });
  try {
    expect(await upload(server.url, { audio: SPOKEN })).toMatchObject({
      status: 503,
      body: { error: { code: "model_failed" } },
    });
    const stream = await fetch(`${server.url}/stream/transcribe`, {
      method: "POST",
      headers: { "content-type": "application/x-ndjson" },
      body: "{}",
    });
    expect(stream.status).toBe(503);
    expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({
      ok: false,
      speech: { state: "failed" },
    });
  } finally {
    await server.close();
  }
});
