import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { ANALYST_PACKAGES } from "../../src/commands/code/code-command.ts";
import { preparedFolder } from "../../src/servers/choices/code/prepared-folder.ts";
import { startChildServer } from "../kit/child-server.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { verifies } from "../verifies.ts";

const TEST_TIMEOUT_MS = 120_000;
const FOUND_MS_MAX = 60_000;
const ENTERABLE = 0o755;
const MAIN = join(import.meta.dirname, "../../src/main.ts");
const WHEELS = join(import.meta.dirname, "tiny-wheels.py");
const PYTHON = "/usr/bin/python3";
const HAS_PIP =
  HAS_BUBBLEWRAP &&
  [
    ["-m", "pip", "--version"],
    ["-c", "import venv"],
  ].every((args) => spawnSync(PYTHON, args).status === 0);

interface Place {
  readonly dataDir: string;
  readonly wheels: string;
}

/** An empty data folder, and a folder of tiny wheels of all packages but those named. */
async function place(missing: readonly string[] = []): Promise<Place> {
  const folder = temporaryFolder();
  await chmod(folder, ENTERABLE); // For the users of sandboxes, if this test runs as root.
  const wheels = join(folder, "wheels");
  await mkdir(wheels);
  const names = ANALYST_PACKAGES.filter((name) => !missing.includes(name));
  await promisify(execFile)(PYTHON, [WHEELS, wheels, ...names]);
  return { dataDir: join(folder, "data"), wheels };
}

function startSetup({ dataDir }: Place, pip: Readonly<Record<string, string>>, more: readonly string[] = []) {
  const env = { PATH: process.env["PATH"], PIP_CONFIG_FILE: "/dev/null", DATA_DIR: dataDir, ...pip };
  const child = spawn(process.execPath, [MAIN, "code", "setup", ...more], { env, cwd: join(dataDir, "..") });
  let printout = "";
  let complaints = "";
  child.stdout.on("data", (text) => (printout += String(text)));
  child.stderr.on("data", (text) => (complaints += String(text)));
  const end = once(child, "close").then(([code]) => ({ code: Number(code), printout, complaints }));
  return { child, end };
}

function fromFolder({ wheels }: Place): Record<string, string> {
  return { PIP_NO_INDEX: "1", PIP_FIND_LINKS: wheels };
}

/** What a new server prints when it runs this code. */
async function runCode({ dataDir }: Place, code: string): Promise<string> {
  const server = await startChildServer({ env: { DATA_DIR: dataDir, CODE_ENGINE: "bubblewrap" } });
  await expect.poll(() => server.said(), { timeout: FOUND_MS_MAX }).toMatch(/^Code runs in {7}bubblewrap/m);
  const reply = await server.post("/v1/responses", {
    model: "antiphon-built-in",
    input: `Use code_interpreter to run "${code}"`,
    tools: [{ type: "code_interpreter", container: { type: "auto" } }],
    include: ["code_interpreter_call.outputs"],
  });
  const told = await reply.text();
  expect(await server.stop()).toBe(0);
  return told;
}

/** A package index that does not answer for one wheel until `release`. Counts the downloads of the others. */
async function serveIndex({ wheels }: Place, slow: string) {
  const asked = Promise.withResolvers<void>();
  const downloads: string[] = [];
  let isReleased = false;
  const answer = async (url: string, response: ServerResponse): Promise<void> => {
    if (url.startsWith("/simple/")) {
      const file = `${basename(url).replaceAll("-", "_")}-1.0-py3-none-any.whl`;
      response.setHeader("content-type", "text/html");
      return void response.end(`<!DOCTYPE html><html><body><a href="/wheels/${file}">${file}</a></body></html>`);
    }
    const file = basename(url);
    if (file.startsWith(slow) && !isReleased) return asked.resolve();
    downloads.push(file);
    response.setHeader("cache-control", "max-age=86400");
    response.end(await readFile(join(wheels, file)));
  };
  const { url: origin, port } = await serveHttp((request, response) => void answer(request.url ?? "/", response));
  // pip caches nothing from plain HTTP unless the host is trusted.
  const pip = { PIP_INDEX_URL: `${origin}/simple/`, PIP_TRUSTED_HOST: `127.0.0.1:${port}` };
  return { pip, downloads, asked: asked.promise, release: () => (isReleased = true) };
}

describe.skipIf(!HAS_PIP)("antiphon code setup", { timeout: TEST_TIMEOUT_MS }, () => {
  test("makes a Python whose packages code can import, once", async () => {
    verifies("tools.code-interpreter.prepared-packages");
    const here = await place();
    const folder = preparedFolder(here.dataDir);
    const first = await startSetup(here, fromFolder(here)).end;
    expect(first).toMatchObject({ code: 0, printout: `${join(folder, "ready")}\n` });
    expect(first.complaints).toMatch(/about 126 MB to download, 680 MB in .*\n.* is ready/s);
    expect(await readdir(folder)).toEqual(["ready"]);
    expect(await runCode(here, "import pandas, docx_missing_here")).toContain("No module named 'docx_missing_here'");
    expect(await runCode(here, "import pandas; pandas.NAME")).toContain("tiny pandas");
    const second = await startSetup(here, { PIP_NO_INDEX: "1" }).end;
    expect(second).toMatchObject({ code: 0, printout: first.printout });
    expect(second.complaints).toContain("--renew makes it anew");
  });

  test("leaves nothing behind that is used when it is killed, and goes on with what it has", async () => {
    const here = await place();
    const folder = preparedFolder(here.dataDir);
    const last = ANALYST_PACKAGES.at(-1) ?? "";
    const index = await serveIndex(here, last);
    const broken = startSetup(here, index.pip);
    await index.asked;
    broken.child.kill("SIGTERM");
    expect(await broken.end).toMatchObject({ code: 1, complaints: expect.stringContaining("Interrupted") });
    expect(await readdir(folder)).not.toContain("ready");
    const before = index.downloads.length;
    expect(before).toBe(ANALYST_PACKAGES.length - 1);
    index.release();
    expect(await startSetup(here, index.pip).end).toMatchObject({ code: 0 });
    expect(index.downloads.length).toBe(before + 1);
    expect(await readdir(folder)).toEqual(["ready"]);
  });

  test("names a package that the index lacks, and keeps the Python there is", async () => {
    const here = await place(["sympy"]);
    const folder = preparedFolder(here.dataDir);
    const failed = await startSetup(here, fromFolder(here)).end;
    expect(failed).toMatchObject({ code: 1, complaints: expect.stringMatching(/No Python was made\. .*sympy/s) });
    expect(failed.complaints).not.toContain("    at ");
    expect(await readdir(folder)).not.toContain("ready");
  });

  test("makes no Python beside CODE_PYTHON", async () => {
    const here = await place();
    const refused = await startSetup(here, { CODE_PYTHON: PYTHON }).end;
    expect(refused).toMatchObject({ code: 1, complaints: expect.stringContaining("CODE_PYTHON names the Python") });
  });
});
