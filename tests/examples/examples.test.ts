import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { program, startToneServer } from "../local-stt/tone-server.ts";
import { tones } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../examples");
/** What `make test-setup` installs where there is a python3 with venv. */
const PYTHON = resolve(import.meta.dirname, "../../.cache/python-clients/bin/python");
const run = promisify(execFile);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { EGRESS_ALLOW: "127.0.0.1" } });
});
afterAll(() => server.close());

/** What an example prints. */
async function print(command: string, name: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: server.apiKey };
  return (await run(command, [join(EXAMPLES, name), ...args], { env })).stdout;
}

test("the stream arrives in TypeScript", async () => {
  verifies("docs.examples.all-run");
  expect(await print(process.execPath, "stream.ts", "Repeat this: high tide")).toMatch(
    /high tide[^]*\n\(\d+ tokens\)\n$/,
  );
});

test.skipIf(!existsSync(PYTHON))("the same stream arrives in Python", async () => {
  verifies("docs.examples.all-run");
  expect(await print(PYTHON, "stream.py", "Repeat this: high tide")).toMatch(/high tide[^]*\n\(\d+ tokens\)\n$/);
});

test("the loop of tools ends with an answer that has their result", async () => {
  verifies("docs.examples.all-run");
  expect(await print(process.execPath, "tools.ts")).toMatch(/^get_weather\(Paris\)\n[^]*18 degrees and sunny/);
});

test("the background response is taken up at the next event", async () => {
  verifies("docs.examples.all-run");
  const printed = await print(process.execPath, "background.ts");
  expect(printed).toMatch(/^lost after event 10\ntaken up at event 11: completed\n[^]*30/);
});

test("the webhook tells of the end of the background response", async () => {
  verifies("docs.examples.all-run", "webhooks.signature.official-sdk");
  expect(await print(process.execPath, "webhooks.ts")).toMatch(/^response\.completed: .*high tide/);
});

test("a repeated create makes one response", async () => {
  verifies("docs.examples.all-run", "responses.create-keys.one-response");
  const printed = await print(process.execPath, "idempotent.ts");
  expect(printed.split("\n")).toEqual([
    "the report is ready",
    "the same response: true",
    "told as a repetition: true",
    "another request under the same key: idempotency_key_reused",
    "",
  ]);
});

test("the batch ends with an answer to each question", async () => {
  verifies("docs.examples.all-run", "batches.operations.object-of-the-reference");
  const printed = await print(process.execPath, "batch.ts");
  expect(printed).toMatch(/^completed: 2 of 2\n/);
  expect(printed).toMatch(/^tide: .*high tide$/m);
  expect(printed).toMatch(/^sum: .*42/m);
});

test.skipIf(program === null)("the recording is transcribed", async () => {
  verifies("docs.examples.all-run");
  const stt = await startToneServer();
  const folder = temporaryFolder();
  const recording = join(folder, "spoken.wav");
  await writeFile(recording, wavFile(tones("nine", "zero", "five"), 16_000));
  const { stdout } = await run(process.execPath, [join(EXAMPLES, "transcribe.ts"), recording], {
    env: { PATH: process.env["PATH"], STT_URL: stt.url },
  });
  expect(stdout).toBe("nine zero five\n");
});

test("the list of examples names every one of them", async () => {
  const listed = await readFile(join(EXAMPLES, "README.md"), "utf8");
  const names = (await readdir(EXAMPLES)).filter((name) => name !== "README.md");
  expect(names.filter((name) => !listed.includes(`(${name}`))).toEqual([]);
});
