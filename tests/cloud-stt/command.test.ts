import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { describe, expect, onTestFailed, onTestFinished, test } from "vitest";
import { AntiphonCloudSpeech, AuthenticationError, pcmMessages } from "../../packages/client/src/index.ts";
import { makeKey, runKeys } from "../keys/keys-command.ts";
import { isAlive } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { tones } from "../speech/tones.ts";
import { enginePids, toneModelFile } from "../speech/whisper-for-tests.ts";
import { verifies } from "../verifies.ts";
import { program } from "./tone-speech.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

interface Command {
  readonly child: ChildProcessWithoutNullStreams;
  readonly dataDir: string;
  /** The http address, without a trailing slash. */
  readonly url: string;
  readonly said: () => string;
}

/** Runs the real command in its own process and data folder. */
async function startCommand(env: Readonly<Record<string, string>> = {}): Promise<Command> {
  const folder = temporaryFolder();
  const dataDir = join(folder, "data");
  const child = spawn(process.execPath, [MAIN, "stt-cloud", "--stt-cloud-port", "0"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir, SPEECH_ENGINE: "none", LOG_LEVEL: "debug", ...env },
  });
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += String(text)));
  onTestFailed(() => console.error(said));
  const urlSaid = (): string | undefined => /Cloud stream\s+ws(:\S+)\/stt\/v1\/stream\n/.exec(said)?.[1];
  await expect.poll(urlSaid, { timeout: 30_000 }).toBeDefined();
  return { child, dataDir, url: `http${urlSaid() ?? ""}`, said: () => said };
}

async function statusOf(url: string, key: string): Promise<number> {
  return (await fetch(`${url}/stt/v1/stream`, { headers: { "x-api-key": key } })).status;
}

describe("antiphon stt-cloud", () => {
  test("listens on the loopback address, and accepts the keys made by the command keys until they end", async () => {
    verifies("cloud.server.loopback-unless-told", "cloud.stream.bad-key-is-401", "auth.keys.expire");
    const { url, dataDir, said } = await startCommand();
    expect(new URL(url).hostname).toBe("127.0.0.1");
    const others = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    for (const { address, family, internal } of others) {
      if (internal || family !== "IPv4") continue;
      await expect(fetch(url.replace("127.0.0.1", address))).rejects.toThrow("fetch failed");
    }
    const first = (await readFile(join(dataDir, "api-key"), "utf8")).trim();
    expect(said()).toContain(first);
    const { out, err } = await runKeys(dataDir, "create", "--name", "lost");
    const [lost, id = ""] = [out.trim(), err.split(" ")[0]];
    const brief = await makeKey(dataDir, "--expires-in", "1s");
    // The keys are valid, but there is no engine.
    expect([await statusOf(url, first), await statusOf(url, lost)]).toEqual([503, 503]);
    expect((await runKeys(dataDir, "revoke", id)).code).toBe(0);
    expect(await statusOf(url, lost)).toBe(401);
    await expect.poll(() => statusOf(url, brief)).toBe(401);
    const client = new AntiphonCloudSpeech({ baseUrl: url, apiKey: brief });
    await expect(client.stream(pcmMessages([]))).rejects.toBeInstanceOf(AuthenticationError);
  });

  test.skipIf(program === null)(
    "lets its streams end on SIGTERM, and leaves no process and no recording behind",
    async () => {
      verifies("cloud.stream.drain", "cloud.stream.nothing-kept", "stt.engine.ends-with-the-server");
      const { child, url, dataDir, said } = await startCommand({
        SPEECH_ENGINE: "whisper",
        WHISPER_SERVER_PATH: program ?? "",
        WHISPER_MODEL_PATH: await toneModelFile(),
        WHISPER_THREADS: "1",
      });
      const isReady = async (): Promise<unknown> => (await fetch(`${url}/healthz`)).json();
      await expect.poll(isReady, { timeout: 30_000 }).toMatchObject({ ok: true });
      const engines = await enginePids(child.pid);
      const apiKey = (await readFile(join(dataDir, "api-key"), "utf8")).trim();
      const exited = once(child, "exit");
      async function* talk() {
        yield* pcmMessages([pcmBytes(tones("eight"))]);
        child.kill("SIGTERM");
        const isRefused = (): Promise<boolean> =>
          fetch(url).then(
            () => false,
            () => true,
          );
        await expect.poll(isRefused).toBe(true);
        yield* pcmMessages([pcmBytes(tones("nine"))]);
      }
      const heard: string[] = [];
      for await (const message of await new AntiphonCloudSpeech({ baseUrl: url, apiKey }).stream(talk()))
        if (message.type === "final") heard.push(message.text);
      expect(heard.join(" ").trim()).toBe("eight nine");
      expect(await exited).toEqual([0, null]);
      expect(engines).toHaveLength(1);
      await expect.poll(() => engines.map(isAlive)).toEqual([false]);
      expect((await readdir(dataDir)).filter((name) => !/^(api-key|antiphon[.]db.*|files)$/.test(name))).toEqual([]);
      const log = said()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .join("\n");
      for (const secret of [apiKey, "eight", "nine"]) expect(log).not.toContain(secret);
    },
  );

  test("names wrong settings in a sentence, and has a help text of its own", async () => {
    const run = async (...words: readonly string[]): Promise<string> => {
      const child = spawn(process.execPath, [MAIN, ...words]);
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text) => (said += String(text)));
      const [code] = await once(child, "close");
      return `${String(code)} ${said}`;
    };
    expect(await run("stt-cloud", "--stt-cloud-port", "many")).toMatch(
      /^2 [^\n]*\n +STT_CLOUD_PORT \(--stt-cloud-port\) is 'many'/,
    );
    expect(await run("stt-cloud", "--help")).toMatch(/^0 Usage: antiphon stt-cloud[\s\S]*antiphon --help lists them/);
    expect(await run("--help")).toMatch(/^0 [\s\S]*stt-cloud +start only the cloud stream[\s\S]*STT_CLOUD_STREAMS_MAX/);
  });
});
