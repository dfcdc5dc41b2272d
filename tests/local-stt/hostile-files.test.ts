import { gzipSync } from "node:zlib";
import { mapSomeAtOnce } from "@antiphon/base/limits/map-some-at-once.ts";
import { HAS_FFMPEG, soundFoldersOf, wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { describe, expect, test } from "vitest";
import { memoryOf } from "../kit/processes.ts";
import { postAudio } from "../kit/upload.ts";
import { tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { type ChildToneServer, programsOf, startChildToneServer } from "./child-tone-server.ts";
import { inAllFormats, mutated, randomNumbers } from "./mutated-files.ts";
import { oversizedFiles } from "./oversized-files.ts";
import { program } from "./tone-server.ts";

const MEBIBYTE = 1024 * 1024;
const SEED = 20_261_121;
/** Files in each format. */
const ROUNDS = 14;
const AT_ONCE = 4;
const SPOKEN = wavFile(tones("three", "one"), 16_000);
/** The allowed replies to a file. */
const REFUSALS: Readonly<Record<string, number>> = {
  invalid_audio: 400,
  empty_audio: 400,
  audio_too_long: 400,
  upload_too_large: 413,
  unsupported_format: 415,
};

async function upload(url: string, audio: Uint8Array): Promise<{ status: number; body: Record<string, unknown> }> {
  const reply = await postAudio(`${url}/transcribe`, audio, "recording.bin");
  return { status: reply.status, body: await reply.json() };
}

function expectWordsOrRefusal(name: string, { status, body }: Awaited<ReturnType<typeof upload>>): void {
  if (status === 200) expect([name, body["text"]]).toEqual([name, expect.any(String)]);
  else {
    const code = JSON.stringify(body).match(/"code":"(\w+)"/)?.[1] ?? "";
    expect([name, body]).toEqual([name, { error: { code, message: expect.stringMatching(/^\S.*\.$/s) } }]);
    expect([name, code, status]).toEqual([name, code, REFUSALS[code]]);
  }
}

/** No process started for a file is left, and the server transcribes as before. */
async function expectUnchanged(server: ChildToneServer, before: { readonly residentBytes: number }): Promise<void> {
  expect((await upload(server.url, SPOKEN)).body["text"]).toBe("three one");
  await expect.poll(async () => (await programsOf(server.pid)).length).toBe(1); // The engine's guard.
  expect(soundFoldersOf(server.pid)).toEqual([]);
  const grown = async (): Promise<number> => (await memoryOf(server.pid)).residentBytes - before.residentBytes;
  await expect.poll(grown, { timeout: 10_000 }).toBeLessThan(160 * MEBIBYTE);
  expect(server.complaints()).toBe("");
}

describe.skipIf(program === null || !HAS_FFMPEG || process.platform !== "linux")("malicious files", () => {
  test("with any damage give words or a clear refusal", { timeout: 120_000 }, async () => {
    verifies("stt.transcribe.hostile-files-are-refused", "stt.errors.http-shape");
    const server = await startChildToneServer({ STT_RECORDING_MAX: "10m" });
    const files = inAllFormats(SPOKEN);
    const others = Object.values(files);
    for (const audio of others) expect((await upload(server.url, audio)).body["text"]).toBe("three one");
    const before = await memoryOf(server.pid);
    const random = randomNumbers(SEED);
    const all = Object.entries(files).flatMap(([name, original]) =>
      Array.from({ length: ROUNDS }, (_, round) => ({
        name: `${name}, ${round}`,
        audio: mutated(original, others, random),
      })),
    );
    await mapSomeAtOnce(all, AT_ONCE, async ({ name, audio }) =>
      expectWordsOrRefusal(name, await upload(server.url, audio)),
    );
    await expectUnchanged(server, before);
  });

  test("that contain or declare too much are refused", { timeout: 120_000 }, async () => {
    verifies("stt.transcribe.hostile-files-are-refused", "stt.transcribe.too-large-is-413");
    const server = await startChildToneServer({ STT_RECORDING_MAX: "2m" });
    const { m4a = SPOKEN } = inAllFormats(SPOKEN);
    expect((await upload(server.url, m4a)).body["text"]).toBe("three one");
    const before = await memoryOf(server.pid);
    for (const [name, audio] of Object.entries(oversizedFiles(SPOKEN, m4a))) {
      const outcome = await upload(server.url, audio);
      expect([name, outcome.status]).not.toEqual([name, 200]);
      expectWordsOrRefusal(name, outcome);
    }
    const bomb = gzipSync(Buffer.concat([Buffer.from(FORM_START), Buffer.alloc(200 * MEBIBYTE)]));
    const reply = await fetch(`${server.url}/transcribe`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x", "content-encoding": "gzip" },
      body: Uint8Array.from(bomb),
    });
    expect([reply.status, await reply.json()]).toMatchObject([413, { error: { code: "upload_too_large" } }]);
    await expectUnchanged(server, before);
  });
});

const FORM_START = '--x\r\ncontent-disposition: form-data; name="audio"; filename="a"\r\n\r\n';
