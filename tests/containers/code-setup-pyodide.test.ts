import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { fetchPyodideWheels, type PinnedWheel, PYODIDE_WHEELS } from "../../src/commands/code/pyodide-wheels.ts";
import { pyodideWheelsFolder } from "../../src/servers/choices/code/prepared-folder.ts";
import { startChildServer } from "../kit/child-server.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";

const TEST_TIMEOUT_MS = 180_000;
const FOUND_MS_MAX = 120_000;
const NEVER = new AbortController().signal;
const MAIN = join(import.meta.dirname, "../../src/main.ts");
const NAMES = ["tiny_sums", "tiny_words"];
const FILES = new Map(NAMES.map((name) => [`${name}-1.0-py3-none-any.whl`, wheelOf(name)]));
const WHEELS = [...FILES].map(([file, bytes]): PinnedWheel => ({ file, bytes: bytes.length, sha256: sha256(bytes) }));

function wheelOf(name: string): Uint8Array {
  return zipSync({
    [`${name}/__init__.py`]: strToU8(`NAME = "${name} of ours"`),
    [`${name}-1.0.dist-info/METADATA`]: strToU8(`Name: ${name}\n`),
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A package index with these files. */
async function serveIndex(files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const { url } = await serveHttp((request, response) => {
    const [, project = ""] = /^\/simple\/([^/]+)\/$/.exec(request.url ?? "") ?? [];
    if (project !== "") {
      const file = [...files.keys()].find((name) => name.replaceAll("_", "-").startsWith(`${project}-`)) ?? "none";
      return void response.end(`<a href="/files/${file}">${file}</a>`);
    }
    const bytes = files.get((request.url ?? "").slice("/files/".length));
    if (bytes === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-length": bytes.length }).end(bytes);
  });
  return `${url}/simple`;
}

describe("antiphon code setup --pyodide", { timeout: TEST_TIMEOUT_MS }, () => {
  test("fetches packages that code imports, and of which the model is told", async () => {
    verifies("tools.code-interpreter.pyodide-packages");
    const dataDir = temporaryFolder();
    const folder = pyodideWheelsFolder(dataDir);
    const progress: number[] = [];
    const onBytes = (bytes: number): void => void progress.push(bytes);
    await fetchPyodideWheels({ wheels: WHEELS, indexUrl: await serveIndex(FILES), folder, onBytes }, NEVER);
    expect(readdirSync(folder).toSorted()).toEqual([...FILES.keys()].toSorted());
    expect(progress.at(-1)).toBe(WHEELS.reduce((sum, { bytes }) => sum + bytes, 0));
    const server = await startChildServer({ env: { DATA_DIR: dataDir, CODE_ENGINE: "pyodide" } });
    await expect.poll(() => server.said(), { timeout: FOUND_MS_MAX }).toMatch(/^Code runs in {7}Pyodide/m);
    const reply = await server.post("/v1/responses", {
      model: "antiphon-built-in",
      input: 'Use code_interpreter to run "__import__(`tiny_words`).NAME"'.replaceAll("`", "'"),
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      include: ["code_interpreter_call.outputs"],
    });
    expect(await reply.text()).toContain("tiny_words of ours");
    expect(await server.stop()).toBe(0);
  });

  test("leaves the packages there are where one is missing or wrong", async () => {
    const folder = join(temporaryFolder(), "packages");
    const fetchFrom = (indexUrl: string): Promise<void> =>
      fetchPyodideWheels({ wheels: WHEELS, indexUrl, folder, onBytes: () => {} }, NEVER);
    const [[first, bytes] = ["", new Uint8Array()]] = FILES;
    await expect(fetchFrom(await serveIndex(new Map([[first, bytes]])))).rejects.toThrow("tiny_words");
    expect(existsSync(folder)).toBe(false);
    await fetchFrom(await serveIndex(FILES));
    const spoilt = new Map([...FILES].map(([file, own]) => [file, own.map((byte) => byte ^ 1)]));
    await expect(fetchFrom(await serveIndex(spoilt))).rejects.toThrow("checksum");
    expect(readdirSync(folder)).toHaveLength(NAMES.length);
  });

  test("names the index that lacks a package, without a stack", async () => {
    const dataDir = temporaryFolder();
    const env = { PATH: process.env["PATH"], DATA_DIR: dataDir, PIP_INDEX_URL: "http://127.0.0.1:9/simple" };
    const { status, stderr } = spawnSync(process.execPath, [MAIN, "code", "setup", "--pyodide"], { env, cwd: dataDir });
    expect([status, String(stderr)]).toEqual([1, expect.stringContaining("127.0.0.1:9 cannot be reached")]);
    expect(String(stderr)).not.toContain("    at ");
  });

  test("takes pure Python alone", () => {
    for (const { file } of PYODIDE_WHEELS) expect(file).toMatch(/^[a-z0-9_]+-[0-9.post]+-py(2\.py)?3-none-any\.whl$/);
  });
});
