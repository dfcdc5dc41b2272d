import { createHash } from "node:crypto";
import { copyFile, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Health, Version } from "@antiphon/contracts/local-stt/types.ts";
import { WavReader } from "@antiphon/speech/audio/wav.ts";
import { SPOKEN_WORDS } from "@antiphon/speech/recognition/whisper/model/spoken-words.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  canSpeak,
  faults,
  heldOutUtterances,
  speak,
  wordsIn,
} from "../../scripts/fixture-model/spoken-words/held-out.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { postAudio } from "../kit/upload.ts";
import { chunks, exchange, TRANSPORTS } from "../local-stt/stream-client.ts";
import { type LocalSttServer, settled, startLocalSttServer } from "../local-stt-server.ts";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { tones as soundOf } from "./tones.ts";
import { hear, openEngine, toneModelFile, whisperForTests } from "./whisper-for-tests.ts";

const program = await whisperForTests();
const hasEspeak = await canSpeak();
if (!hasEspeak) console.warn("Tests with new utterances are left out: espeak-ng is not installed.");

const EXAMPLE = join(import.meta.dirname, "../../assets/turn-on-the-light.wav");
const EXAMPLE_RATE_HZ = 22_050;
const EXAMPLE_TEXT = "turn on the light";
/** Lower than the rate in the model's README.md, because a small sample varies more. */
const ACCURACY_MIN = 0.9;

describe.skipIf(program === null)("a server without its speech model", () => {
  const warnings: { readonly message: string; readonly fields: object }[] = [];
  let folder = "";
  let server: LocalSttServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "antiphon-fixture-"));
    const warn = (fields: object, message: string): void => void warnings.push({ message, fields });
    server = await startLocalSttServer({
      env: { ...(await environment(folder)), WHISPER_DOWNLOAD: "false" },
      log: { debug: drop, info: drop, warn, error: drop },
    });
    await settled(server.speech);
  });

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("reports that it is a demo in /healthz, /version and the log", async () => {
    verifies("stt.model.fixture-in-its-place");
    const health: Health = await (await fetch(`${server.url}/healthz`)).json();
    expect(health).toMatchObject({ ok: false, speech: { state: "demo", model: "spoken-words-fixture" } });
    expect(health.speech.detail).toMatch(
      /^Demo model: 69 words of a synthetic voice\. There is no speech model .*ggml-base\.en\.bin/,
    );
    await expect
      .poll(async (): Promise<Version> => (await fetch(`${server.url}/version`)).json())
      .toMatchObject({ speech_model: { name: "spoken-words-fixture", sha256: SPOKEN_WORDS.sha256 } });
    expect(warnings.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^using a demo model/));
  });

  test("transcribes the example that is shipped", async () => {
    const form = new FormData();
    form.set("audio", new Blob([await readFile(EXAMPLE)], { type: "audio/wav" }), "recording.wav");
    const reply = await fetch(`${server.url}/transcribe`, { method: "POST", body: form });
    expect(await reply.json()).toMatchObject({ text: EXAMPLE_TEXT, warning: WARNING });
    const formatted = await fetch(`${server.url}/stt_and_format`, { method: "POST", body: form });
    expect(await formatted.json()).toMatchObject({ raw_text: EXAMPLE_TEXT, warning: WARNING });
  });

  test("adds a warning to the transcript given to a model", async () => {
    const behind = await serveBehind(says("I read."), {}, server.recordings);
    const data = (await readFile(EXAMPLE)).toString("base64");
    await behind.create({ input: [{ type: "input_audio", data, format: "wav" }] });
    expect(behind.asked()).toMatchObject({ messages: [{ content: `[${WARNING}]\n${EXAMPLE_TEXT}` }] });
  });

  test.each(TRANSPORTS)("transcribes the same words over %s", async (transport) => {
    const reader = new WavReader();
    const samples = Int16Array.from(reader.push(await readFile(EXAMPLE)));
    const messages = [...chunks(samples, 8000, { sample_rate: EXAMPLE_RATE_HZ }), { type: "end" }];
    const finals = (await exchange(server.url, transport, messages)).filter(({ type }) => type === "transcript.final");
    expect(finals.at(-1)).toMatchObject({ full_text: EXAMPLE_TEXT, warning: WARNING });
  });

  test("gives no words for silence", async () => {
    for (const ms of [500, 3000, 9000])
      expect(await hear(server.speech, new Int16Array(16 * ms))).toMatchObject({ text: "" });
  });

  test.skipIf(!hasEspeak)("transcribes most words of voices that it was not trained on", async () => {
    let words = 0;
    let wrong = 0;
    for (const [index, utterance] of heldOutUtterances(25, 7).entries()) {
      const reply = await postAudio(`${server.url}/transcribe`, await speak(utterance, index));
      const { text } = await reply.json();
      words += utterance.words.length;
      wrong += faults(utterance.words, wordsIn(String(text)));
    }
    expect(1 - wrong / words).toBeGreaterThan(ACCURACY_MIN);
  });
});

describe.skipIf(program === null)("the fixture that comes with the program", () => {
  test("is not used if the speech model is present", async () => {
    verifies("stt.model.fixture-in-its-place");
    const server = await startLocalSttServer({
      env: {
        ...(await environment(temporaryFolder())),
        WHISPER_MODEL: "tone-words-fixture",
        WHISPER_MODELS_DIR: dirname(await toneModelFile()),
        WHISPER_DOWNLOAD: "true",
      },
    });
    onTestFinished(() => server.close());
    await settled(server.speech);
    const { speech }: Health = await (await fetch(`${server.url}/healthz`)).json();
    expect(speech).toMatchObject({ state: "ready", model: "tone-words-fixture", detail: null });
    expect((await hear(server.speech, soundOf("four"))).text).toBe("four");
  });

  test("is replaced by the speech model when that arrives, without refusing a request", async () => {
    verifies("stt.model.fixture-in-its-place");
    const folder = temporaryFolder();
    const tones = await toneModelFile();
    const sha256 = createHash("sha256")
      .update(await readFile(tones))
      .digest("hex");
    const engine = openEngine(program ?? "", "", {
      model: {
        path: null,
        name: "base.en",
        folder,
        otherFolders: [],
        mayDownload: false,
        downloadUrl: "http://127.0.0.1:9/",
        sha256,
        againMs: 50,
      },
      demoModel: { model: SPOKEN_WORDS, folder: join(folder, "fixtures") },
    });
    onTestFinished(() => engine.close());
    await settled(engine);
    expect(engine.facts().model).toBe(SPOKEN_WORDS.name);
    await copyFile(tones, join(folder, "part"));
    await rename(join(folder, "part"), join(folder, "ggml-base.en.bin"));
    while (engine.facts().model !== "base.en") await hear(engine, new Int16Array(16_000));
    expect((await hear(engine, soundOf("five"))).text).toBe("five");
    expect(engine.status()).toEqual({ state: "ready" });
    expect(engine.restarts()).toBe(0);
  });

  test("can be requested by its name", async () => {
    const server = await startLocalSttServer({
      env: { ...(await environment(temporaryFolder())), WHISPER_MODEL: SPOKEN_WORDS.name },
    });
    onTestFinished(() => server.close());
    await settled(server.speech);
    const { speech }: Health = await (await fetch(`${server.url}/healthz`)).json();
    expect(speech).toMatchObject({ state: "ready", model: SPOKEN_WORDS.name, detail: null });
  });
});

const WARNING = "Demo model: 69 words of a synthetic voice.";

function drop(): void {}

/** A folder with nothing but the engine. */
async function environment(folder: string): Promise<Record<string, string>> {
  return {
    SPEECH_ENGINE: "whisper",
    WHISPER_SERVER_PATH: program ?? "",
    WHISPER_CACHE_DIR: folder,
    WHISPER_MODELS_DIR: join(folder, "models"),
    WHISPER_DOWNLOAD_URL: "http://127.0.0.1:9/",
    WHISPER_THREADS: "1",
    FIND_LOCAL_DAEMON: "false",
  };
}
