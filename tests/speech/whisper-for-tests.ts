import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ToneModelOptions, toneWordsModel } from "../../scripts/fixture-model/tone-words.ts";
import { BuildError, builtServer, checkServer } from "../../src/speech/whisper/build-server.ts";

const CACHE = join(import.meta.dirname, "../../.cache/speech");
const TONE_MODEL = "ggml-tone-words-fixture.bin";

/** The real engine, which is built once; null, with a notice, where this machine has nothing to build it with. WHISPER_SERVER_PATH names one that is there. */
export async function whisperForTests(onProgress = (_percent: number | null): void => {}): Promise<string | null> {
  const never = new AbortController().signal;
  const program = process.env["WHISPER_SERVER_PATH"] ?? "";
  if (program !== "") {
    await checkServer(program, never);
    return program;
  }
  try {
    const folder = join(process.env["WHISPER_CACHE_DIR"] ?? CACHE, "engines");
    return (await builtServer({ folder, onProgress }, never)).program;
  } catch (error) {
    if (!(error instanceof BuildError && error.isMachineLacking)) throw error;
    console.warn(`Tests with the real speech engine are left out. ${error.message}.`);
    return null;
  }
}

/** A file with the model whose words are tones. */
export async function toneModelFile(options: ToneModelOptions = {}): Promise<string> {
  const bytes = toneWordsModel(options);
  const key = createHash("sha256").update(bytes).digest("hex");
  const folder = join(CACHE, "fixture-models", key.slice(0, 16));
  const path = join(folder, TONE_MODEL);
  if ((await readFile(path).catch(() => null))?.equals(bytes) === true) return path;
  await mkdir(folder, { recursive: true });
  await writeFile(`${path}.${process.pid}`, bytes);
  await rename(`${path}.${process.pid}`, path); // Other tests may read it.
  return path;
}
