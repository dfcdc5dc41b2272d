import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { DOORS, startAudioServer } from "../audio/audio-servers.ts";
import { pcmAt } from "../audio/realtime-client.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { program } from "../local-stt/tone-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";

/** What `make clients` installs. */
const PYTHON = resolve(import.meta.dirname, "../../.cache/python-realtime/bin/python");
const REQUIREMENTS = readFileSync(join(import.meta.dirname, "python/realtime-requirements.txt"), "utf8");
const TIMEOUT_MS = 120_000;

const SPOKEN = pcmAt(24_000, sound(500, "three", 300, "one", 1200, "four", 1500));

const PROGRAMS = [
  { client: "openai", packageName: "openai", model: "whisper-1" },
  { client: "livekit", packageName: "livekit-plugins-openai", model: "gpt-4o-mini-transcribe" },
  { client: "pipecat", packageName: "pipecat-ai", model: "gpt-transcribe" },
] as const;

describe.skipIf(program === null || !existsSync(PYTHON)).each(PROGRAMS)(
  "$packageName (Python), live",
  { timeout: TIMEOUT_MS },
  ({ client, packageName, model }) => {
    test.each(DOORS)(`of version ${version(packageName)} hears two turns by %s`, async (door) => {
      verifies("audio.realtime.order");
      const server = await startAudioServer(door);
      const file = join(temporaryFolder(), "sound.pcm");
      await writeFile(file, SPOKEN);
      const order = { client, model, file, turns: 2, url: `${server.url}/v1`, key: server.client.apiKey };
      expect(await transcriptsOf(order)).toEqual(["three one", "four"]);
    });
  },
);

async function transcriptsOf(order: object): Promise<unknown> {
  const child = spawn(PYTHON, [join(import.meta.dirname, "python/realtime_clients.py")], {
    env: { PATH: process.env["PATH"], PYTHONWARNINGS: "ignore", LOGURU_LEVEL: "WARNING" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(`${JSON.stringify(order)}\n`);
  const lines = (await text(child.stdout)).trim().split("\n");
  return JSON.parse(lines.at(-1) || '"the program said nothing"');
}

function version(name: string): string {
  return new RegExp(`^${name}==(.+)$`, "m").exec(REQUIREMENTS)?.[1] ?? "";
}
