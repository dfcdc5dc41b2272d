import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import type { Health, Version } from "@antiphon/contracts/local-stt/types.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { type LocalSttServer, settled, startLocalSttServer } from "../local-stt-server.ts";
import { verifies } from "../verifies.ts";
import { tones } from "./tones.ts";
import { freeze, hear, toneModelFile, whisperForTests } from "./whisper-for-tests.ts";

const program = await whisperForTests();

async function serve(env: Readonly<Record<string, string>>): Promise<LocalSttServer> {
  const server = await startLocalSttServer({
    env: {
      SPEECH_ENGINE: "whisper",
      WHISPER_SERVER_PATH: program ?? "",
      WHISPER_DOWNLOAD: "false",
      WHISPER_FALLBACK: "false",
      ...env,
    },
    log: { debug: drop, info: drop, warn: drop, error: drop },
  });
  onTestFinished(() => server.close());
  return server;
}

function drop(): void {}

async function health({ url }: LocalSttServer): Promise<Health> {
  return (await fetch(`${url}/healthz`)).json();
}

async function version({ url }: LocalSttServer): Promise<Version> {
  return (await fetch(`${url}/version`)).json();
}

/** A local server with one file, and the requests it got. */
async function mirror(answer: (response: ServerResponse) => void): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/models/`, paths };
}

describe.skipIf(program === null)("/healthz and /version", () => {
  test("show a ready engine and its model", async () => {
    verifies("stt.health.reports-ok", "stt.health.tells-model-and-formatter", "stt.version.build-metadata");
    const path = await toneModelFile();
    const server = await serve({ WHISPER_MODEL_PATH: path });
    await settled(server.speech);
    expect(await health(server)).toMatchObject({
      ok: true,
      speech: { state: "ready", model: "tone-words-fixture", detail: null, received_bytes: null, restarts: 0 },
    });
    const sha256 = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    await expect
      .poll(() => version(server))
      .toMatchObject({
        engine: { name: "whisper.cpp" },
        model_paths: { speech: path },
        speech_model: { name: "tone-words-fixture", sha256 },
      });
  });

  test("answer at once while the engine works, and while it hangs", async () => {
    verifies("stt.health.answers-while-busy");
    const server = await serve({ WHISPER_MODEL_PATH: await toneModelFile() });
    await settled(server.speech);
    const frozen = await freeze();
    const answer = hear(server.speech, tones("one"));
    const startedMs = performance.now();
    for (let count = 0; count < 20; count += 1) expect((await health(server)).ok).toBe(true);
    expect((performance.now() - startedMs) / 20).toBeLessThan(200);
    frozen.goOn();
    expect((await answer).text).toBe("one");
  });

  test.each([
    {
      what: "a model that is not there",
      model: "nowhere/ggml-none.bin",
      detail: /^The model file .*ggml-none\.bin cannot be read\.$/,
    },
    { what: "a file that is no model", model: import.meta.filename, detail: /is not a whisper\.cpp model file\.$/ },
  ])("say why $what cannot be used", async ({ model, detail }) => {
    verifies("stt.health.not-ok-while-loading");
    const server = await serve({ WHISPER_MODEL_PATH: model });
    await settled(server.speech);
    expect(await health(server)).toMatchObject({
      ok: false,
      speech: { state: "failed", detail: expect.stringMatching(detail) },
    });
  });

  test("say why an incomplete model cannot be used", async () => {
    verifies("stt.health.not-ok-while-loading", "stt.engine.rests-when-hopeless");
    const path = join(temporaryFolder(), "ggml-half.bin");
    await writeFile(path, (await readFile(await toneModelFile())).subarray(0, 1_000_000));
    const server = await serve({ WHISPER_MODEL_PATH: path });
    await settled(server.speech);
    expect((await health(server)).speech).toMatchObject({
      state: "failed",
      detail: `The speech engine cannot load the model ${path}.`,
    });
  });

  test("say that speech is switched off", async () => {
    const server = await serve({ SPEECH_ENGINE: "none" });
    expect(await health(server)).toMatchObject({ ok: false, speech: { state: "failed", model: null } });
    expect(await version(server)).toMatchObject({ engine: { name: "none", version: null } });
  });

  test("say that a program is not an engine", async () => {
    const server = await serve({ WHISPER_MODEL_PATH: await toneModelFile(), WHISPER_SERVER_PATH: "/bin/true" });
    await settled(server.speech);
    expect((await health(server)).speech.detail).toBe("/bin/true is not a whisper.cpp server, or is too old.");
  });
});

describe.skipIf(program === null)("a missing model", () => {
  test("is downloaded, with visible progress, and then used", async () => {
    verifies("stt.model.downloads-shown", "stt.model.download-is-checked");
    const bytes = await readFile(await toneModelFile());
    const waiting: ServerResponse[] = [];
    const source = await mirror((response) => {
      response.writeHead(200, { "content-length": bytes.length });
      response.write(bytes.subarray(0, 1_000_000));
      waiting.push(response);
    });
    const server = await serve({
      WHISPER_MODEL: "tones",
      WHISPER_MODELS_DIR: temporaryFolder(),
      WHISPER_DOWNLOAD: "true",
      WHISPER_DOWNLOAD_URL: source.url,
      WHISPER_MODEL_SHA256: createHash("sha256").update(bytes).digest("hex"),
    });
    await expect
      .poll(() => health(server))
      .toMatchObject({
        ok: false,
        speech: {
          state: "downloading",
          model: "tones",
          detail: "The speech model is being downloaded.",
          received_bytes: 1_000_000,
          total_bytes: bytes.length,
        },
      });
    await expect(hear(server.speech, tones("one"))).rejects.toMatchObject({ reason: "loading" });
    for (const response of waiting) response.end(bytes.subarray(1_000_000));
    await settled(server.speech);
    expect((await health(server)).ok).toBe(true);
    expect(source.paths).toEqual(["/models/ggml-tones.bin"]);
    expect((await hear(server.speech, tones("one"))).text).toBe("one");
  });

  test("is not downloaded if that is not allowed, and the reason names the setting and the path", async () => {
    verifies("stt.model.no-network-unless-allowed");
    const source = await mirror((response) => response.end("x"));
    const folder = temporaryFolder();
    const server = await serve({ WHISPER_MODELS_DIR: folder, WHISPER_DOWNLOAD_URL: source.url });
    await settled(server.speech);
    expect((await health(server)).speech.detail).toBe(
      `There is no speech model ${join(folder, "ggml-base.en.bin")}, and WHISPER_DOWNLOAD forbids the download.`,
    );
    expect(source.paths).toEqual([]);
  });

  test("with an unknown name is not requested either", async () => {
    const source = await mirror((response) => response.end("x"));
    const server = await serve({
      WHISPER_MODEL: "larger",
      WHISPER_MODELS_DIR: temporaryFolder(),
      WHISPER_DOWNLOAD: "true",
      WHISPER_DOWNLOAD_URL: source.url,
    });
    await settled(server.speech);
    expect((await health(server)).speech.detail).toMatch(
      /"larger" cannot be downloaded; the models that can are tiny,/,
    );
    expect(source.paths).toEqual([]);
  });

  test.each(["../../etc/passwd", "a/b", ".."])("with the name %s is refused", async (name) => {
    const server = await serve({ WHISPER_MODEL: name, WHISPER_MODELS_DIR: temporaryFolder() });
    await settled(server.speech);
    expect((await health(server)).speech.detail).toBe(`There is no speech model called "${name}".`);
  });

  test("is reported as missing if the download server does not have it", async () => {
    const source = await mirror((response) => response.writeHead(404).end());
    const server = await serve({
      WHISPER_MODELS_DIR: temporaryFolder(),
      WHISPER_DOWNLOAD: "true",
      WHISPER_DOWNLOAD_URL: source.url,
    });
    await settled(server.speech);
    expect((await health(server)).speech.detail).toMatch(/refused the download with status 404\.$/);
    expect(source.paths).toEqual(["/models/ggml-base.en.bin"]);
  });
});

test.skipIf(program === null)("an existing model is used without network access", async () => {
  verifies("stt.model.no-network-unless-allowed");
  const source = await mirror((response) => response.end("x"));
  const path = await toneModelFile();
  const server = await serve({
    WHISPER_MODEL: "tone-words-fixture",
    WHISPER_MODELS_DIR: dirname(path),
    WHISPER_DOWNLOAD: "true",
    WHISPER_DOWNLOAD_URL: source.url,
  });
  await settled(server.speech);
  expect(await version(server)).toMatchObject({ model_paths: { speech: path } });
  expect(source.paths).toEqual([]);
});
