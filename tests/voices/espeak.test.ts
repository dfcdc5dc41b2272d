import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HAS_FFMPEG } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, test } from "vitest";
import { isAlive } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { checkReply } from "../responses/check-refusal.ts";
import { readResponse } from "../responses/read-stream.ts";
import { serveSlowModel } from "../runs/slow-model.ts";
import { verifies } from "../verifies.ts";
import { hear, loudness, samplesOf, soundOf, wordsOf } from "./hear.ts";
import { decode, espeakSamples, HAS_ESPEAK } from "./programs.ts";

const TEXT = "Good morning to all of you. The weather is fine today; later it may rain.";
const SENTENCES = ["Good morning to all of you.", "The weather is fine today; later it may rain."];

const spoken = (outputAudio: object) => ({ stream: true, output_audio: outputAudio });

/** Number of samples, at a rate, of the sentences spoken one after the other. */
function samplesAt(rateHz: number, voice?: string): number {
  return SENTENCES.map((sentence) => Math.round((espeakSamples(sentence, voice) * rateHz) / 22_050)).reduce(
    (sum, count) => sum + count,
  );
}

describe.skipIf(!HAS_ESPEAK)("espeak-ng", () => {
  test.each([8000, 22_050, 24_000, 44_100, 48_000])(
    "speaks pcm16 at %i Hz, as long as the sentences last",
    async (rate) => {
      verifies("extensions.audio.output-audio", "extensions.audio.formats");
      const { create } = await serveBehind(says(TEXT));
      const events = await hear(await create(spoken({ format: "pcm16", sample_rate_hz: rate }))).whole;
      const samples = samplesOf(soundOf(events));
      expect(samples.length).toBe(samplesAt(rate));
      expect(loudness(samples)).toBeGreaterThan(0.03);
      expect(wordsOf(events)).toBe(SENTENCES.join(" "));
    },
  );

  test("speaks one WAV file", async () => {
    const { create } = await serveBehind(says(TEXT));
    const wav = soundOf(await hear(await create(spoken({ format: "wav" }))).whole);
    expect([wav.toString("latin1", 0, 4), wav.readUInt32LE(24), wav.lastIndexOf("RIFF")]).toEqual(["RIFF", 24_000, 0]);
    expect((wav.length - 44) / 2).toBe(samplesAt(24_000));
  });

  test.skipIf(!HAS_FFMPEG).each([
    ["mp3", "mp3: mp3.*24000 Hz, mono", 24_000],
    ["opus", "ogg: opus, 48000 Hz, mono", 48_000],
  ])("is heard as one %s stream", async (format, description, rate) => {
    verifies("extensions.audio.formats");
    const { create } = await serveBehind(says(TEXT));
    const recording = soundOf(await hear(await create(spoken({ format }))).whole);
    const heard = decode(recording, rate);
    expect(heard.format).toMatch(new RegExp(description));
    const seconds = samplesAt(24_000) / 24_000;
    expect(heard.pcm.length / 2 / rate).toBeGreaterThan(seconds - 0.1);
    expect(heard.pcm.length / 2 / rate).toBeLessThan(seconds + 0.2);
    expect(loudness(samplesOf(heard.pcm))).toBeGreaterThan(0.03);
    expect(recording.length).toBeLessThan(seconds * 10_000);
  });

  test.skipIf(!HAS_FFMPEG).each([
    ["mp3", "audio/mpeg", "mp3: mp3.*24000 Hz, mono", 24_000],
    ["opus", "audio/ogg", "ogg: opus, 48000 Hz, mono", 48_000],
    ["wav", "audio/wav", "wav: pcm_s16le.*24000 Hz", 24_000],
  ])("gives the sound of a plain answer as one %s file", async (format, type, description, rate) => {
    verifies("responses.audio.plain-reply-points-to-sound", "extensions.audio.formats");
    const { server, create } = await serveBehind(says(TEXT));
    const reply = await create({ output_audio: { format } });
    const audio = await server.fetch(reply.headers.get("x-antiphon-audio") ?? "");
    expect([audio.status, audio.headers.get("content-type")]).toEqual([200, type]);
    const heard = decode(Buffer.from(await audio.arrayBuffer()), rate);
    expect(heard.format).toMatch(new RegExp(description));
    const seconds = samplesAt(24_000) / 24_000;
    expect(heard.pcm.length / 2 / rate).toBeGreaterThan(seconds - 0.1);
    expect(heard.pcm.length / 2 / rate).toBeLessThan(seconds + 0.2);
    expect(loudness(samplesOf(heard.pcm))).toBeGreaterThan(0.03);
  });

  test("gives the sound of a plain answer as samples without a header", async () => {
    const { server, create } = await serveBehind(says(TEXT));
    const reply = await create({ output_audio: { format: "pcm16" } });
    const audio = await server.fetch(reply.headers.get("x-antiphon-audio") ?? "");
    expect([audio.status, audio.headers.get("content-type")]).toEqual([200, "audio/pcm"]);
    const samples = samplesOf(Buffer.from(await audio.arrayBuffer()));
    expect(samples.length).toBe(samplesAt(24_000));
    expect(loudness(samples)).toBeGreaterThan(0.03);
  });

  test("speaks with the requested voice, and otherwise with the server's", async () => {
    const { create } = await serveBehind(says(TEXT), { VOICE_NAME: "de" });
    const length = async (outputAudio: object) =>
      samplesOf(soundOf(await hear(await create(spoken(outputAudio))).whole)).length;
    expect(await length({ voice: "fr" })).toBe(samplesAt(24_000, "fr"));
    expect(await length({ voice: "en-us+f3" })).toBe(samplesAt(24_000, "en-us+f3"));
    expect(await length({})).toBe(samplesAt(24_000, "de"));
  });

  test("speaks for the reference's voices, in the language of the server's voice", async () => {
    verifies("extensions.audio.reference-voices");
    const length = async (voice: string, usual?: string) => {
      const { create } = await serveBehind(says(TEXT), usual === undefined ? {} : { VOICE_NAME: usual });
      return samplesOf(soundOf(await hear(await create(spoken({ voice }))).whole)).length;
    };
    expect(await length("alloy")).toBe(samplesAt(24_000, "en"));
    expect(await length("marin")).toBe(samplesAt(24_000, "en+f5"));
    expect(await length("onyx", "de")).toBe(samplesAt(24_000, "de+m7"));
    expect(await length("onyx", "echo")).toBe(samplesAt(24_000, "en+m7"));
  });

  test("lists the known voices if one is unknown", async () => {
    const { create, upstream } = await serveBehind(says(TEXT));
    for (const voice of ["nobody", "../../etc/passwd", "-w/tmp/x"])
      await checkReply(await create(spoken({ voice })), {
        code: "invalid_value",
        param: "output_audio.voice",
        message: /^Invalid value: '.+'\. Supported values are: 'alloy', .*'verse', .*'de', .*'en-us', .*'fr-fr', .*\.$/,
      });
    expect(upstream.calls).toEqual([]);
  });

  test("speaks text that looks like an option or markup as plain text", async () => {
    const { create } = await serveBehind(
      says("[[h@l'oU]] <speak><break time='100s'/></speak> -w /tmp/x $(id) `id` \u0001 & so on."),
    );
    const events = await hear(await create(spoken({}))).whole;
    expect(events.at(-1)?.type).toBe("response.completed");
    const seconds = samplesOf(soundOf(events)).length / 24_000;
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThan(20);
  });

  test("never gets text on its command line, and is killed when the response is cancelled", async () => {
    verifies("extensions.audio.cancel-stops-the-voice");
    const { program, calls } = await hangingEspeak();
    const { server, create, call } = await serveSlowModel({ ESPEAK_PATH: program });
    const heard = hear(await create({ ...spoken({ voice: "en-us" }), background: true }));
    (await call(0)).say("This is the secret sentence. And");
    await heard.first("response.output_audio.delta");
    const { response } = await heard.first("response.created");
    const [pid, ...args] = (await calls()).at(-1)?.split(" ") ?? [];
    expect(args).toEqual(["--stdin", "--stdout", "-b", "1", "-v", "en-us"]);
    expect(isAlive(Number(pid))).toBe(true);
    await readResponse(await server.post(`/v1/responses/${response.id}/cancel`, {}));
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
    expect((await heard.whole).at(-1)?.type).toBe("response.failed");
  });
});

/** An espeak-ng that hangs after each sentence and writes down its calls. */
async function hangingEspeak(): Promise<{ program: string; calls: () => Promise<readonly string[]> }> {
  const folder = temporaryFolder();
  const program = join(folder, "espeak-ng");
  const list = join(folder, "calls");
  const script = `#!/bin/sh\ncase "$1" in --voices*) exec espeak-ng "$@";; esac\necho "$$ $*" >> ${list}\nespeak-ng "$@"\nexec sleep 60\n`;
  await writeFile(program, script);
  await chmod(program, 0o755);
  return { program, calls: async () => (await readFile(list, "utf8")).trim().split("\n") };
}

test("without any voice, sound is refused before the model is called, and the error says what would help", async () => {
  verifies("extensions.audio.output-audio");
  const { create, upstream } = await serveBehind(says(TEXT), { ESPEAK_PATH: "/no/such/espeak-ng" });
  await checkReply(await create(spoken({})), {
    code: "unsupported_parameter",
    param: "output_audio",
    message:
      /^Unsupported parameter: 'output_audio'\. This server has no voice: install espeak-ng, or set ESPEAK_PATH .* VOICE_BASE_URL .*\.$/,
  });
  expect(upstream.calls).toEqual([]);
});

test.each(["mp3", "opus"])("without ffmpeg %s is refused, and the error says what would help", async (format) => {
  verifies("extensions.audio.formats");
  const env = { VOICE_BASE_URL: "http://127.0.0.1:1/v1", FFMPEG_PATH: "/no/such/ffmpeg" };
  const { create } = await serveBehind(says(TEXT), env);
  await checkReply(await create(spoken({ format })), {
    code: "unsupported_parameter",
    param: "output_audio.format",
    message: new RegExp(`no encoder for '${format}': install ffmpeg, or set FFMPEG_PATH`),
  });
});

test("sound that nobody could hear is refused", async () => {
  verifies("extensions.audio.someone-hears-it");
  const { create } = await serveBehind(says(TEXT), { VOICE_BASE_URL: "http://127.0.0.1:1/v1" });
  await checkReply(await create({ output_audio: {}, store: false }), {
    code: "unsupported_parameter",
    param: "output_audio",
    message: /Set `stream` or `store` to true/,
  });
});

test.each([
  [{ sample_rate_hz: 7999 }, "integer_below_min_value", "output_audio.sample_rate_hz"],
  [{ sample_rate_hz: 48_001 }, "integer_above_max_value", "output_audio.sample_rate_hz"],
  [{ format: "flac" }, "invalid_value", "output_audio.format"],
  [{ voice: "" }, "string_below_min_length", "output_audio.voice"],
  [{ speed: 2 }, "unknown_parameter", "output_audio.speed"],
])("a wrong member is named: %j", async (outputAudio, code, param) => {
  const { create } = await serveBehind(says(TEXT));
  await checkReply(await create(spoken(outputAudio)), { code, param, message: /./ });
});
