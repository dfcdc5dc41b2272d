import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { tones } from "../speech/tones.ts";
import { API_KEY, startCloudServer } from "./cloud-server.ts";
import { program, sharedToneSpeech } from "./tone-speech.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const BASE_URL = "http://127.0.0.1:8238";
const BUILD_TIMEOUT_MS = 120_000;

const run = promisify(execFile);
const speech = program === null ? null : sharedToneSpeech();

/** A folder with `listen.mjs` of docs/speech.md, changed to call this server, and the package with its client. */
async function folderWithSample(url: string): Promise<string> {
  const folder = temporaryFolder();
  const installed = join(folder, "node_modules/antiphon");
  await mkdir(installed, { recursive: true });
  await symlink(join(ROOT, "package.json"), join(installed, "package.json"));
  await symlink(join(ROOT, "node_modules/eventsource-parser"), join(folder, "node_modules/eventsource-parser"));
  await run(process.execPath, ["scripts/build-client.ts", join(installed, "packages/client/dist")], { cwd: ROOT });
  const [, sample = ""] =
    /```js\n(\/\/ listen\.mjs\n[\s\S]*?)```/.exec(await readFile(join(ROOT, "docs/speech.md"), "utf8")) ?? [];
  expect(sample).toContain(BASE_URL);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "listen.mjs"), sample.replace(BASE_URL, url));
  return folder;
}

test.skipIf(program === null)(
  "listen.mjs of docs/speech.md prints the words of the sound piped to it",
  async () => {
    const server = await startCloudServer({ speech: speech?.() ?? expect.fail("there is no engine") });
    const folder = await folderWithSample(server.url);
    const child = spawn(process.execPath, ["listen.mjs"], { cwd: folder, env: { STT_API_KEY: API_KEY } });
    const ended = once(child, "exit");
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    child.stdin.end(pcmBytes(tones("seven", "one")));
    expect(await said).toEqual(["seven one\n", ""]);
    expect(await ended).toEqual([0, null]);
  },
  BUILD_TIMEOUT_MS,
);
