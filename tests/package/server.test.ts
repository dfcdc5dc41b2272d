import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { verifies } from "../verifies.ts";
import { filesOf, linkPackages, PACK_TIMEOUT_MS, packServer, unpack } from "./packed.ts";

const KEY = "sk-packed-0123456789abcdef";
const STARTED_MODULE = /new URL\(\s*"(\.[^"]*\.(?:js|ts))"\s*,\s*import\.meta\.url/g;
/** A network of its own, with nothing but the loopback address, where the system allows it. */
const ALONE = ["unshare", "--map-root-user", "--net"];
const canBeAlone = spawnSync(ALONE[0] ?? "", [...ALONE.slice(1), "true"]).status === 0;

let folder = "";
/** A project in which nothing but the package is installed. */
let project = "";
let installed = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "antiphon-packed-"));
  project = join(folder, "project");
  installed = await unpack(await packServer(folder), project, "antiphon");
  await linkPackages(project, await dependencies());
}, PACK_TIMEOUT_MS);

afterAll(() => rm(folder, { recursive: true, force: true }));

async function dependencies(): Promise<readonly string[]> {
  const manifest = readJson(await readFile(join(installed, "package.json"), "utf8"));
  return isRecord(manifest) && isRecord(manifest["dependencies"]) ? Object.keys(manifest["dependencies"]) : [];
}

test("the package holds the compiled server, its client and both pages, and neither sources nor tests", async () => {
  const files = await filesOf(installed);
  expect(files).toEqual(
    expect.arrayContaining([
      "bin/antiphon.js",
      "dist/server/src/main.js",
      "dist/server/generated/docs/index.html",
      "dist/server/packages/sandbox/src/harness/harness.py",
      "dist/server/assets/ggml-spoken-words-fixture.bin.gz",
      "dist/server/dist/inspector/index.html",
      "dist/server/dist/chat-lab/index.html",
      "packages/client/dist/packages/client/src/index.d.ts",
    ]),
  );
  expect(files.filter((path) => /(?<!\.d)\.tsx?$|\.(test|fixture)\./.test(path))).toEqual([]);
});

test("antiphon/client of this package is the client, too", async () => {
  const code = 'import { Antiphon } from "antiphon/client"; console.log(typeof new Antiphon().createResponse);';
  await writeFile(join(project, "import.mjs"), code);
  expect(execFileSync(process.execPath, ["import.mjs"], { cwd: project, encoding: "utf8" })).toBe("function\n");
});

test("every thread and child process that a module starts is in the package", async () => {
  const modules = (await filesOf(installed)).filter((path) => /^dist\/server\/(src|packages)\//.test(path));
  const started: string[] = [];
  for (const path of modules.filter((name) => name.endsWith(".js"))) {
    const code = await readFile(join(installed, path), "utf8");
    for (const [, name = ""] of code.matchAll(STARTED_MODULE)) started.push(join(dirname(path), name));
  }
  expect(started.length).toBeGreaterThan(8);
  expect(started.filter((path) => !existsSync(join(installed, path)))).toEqual([]);
});

test("antiphon starts in an empty folder without a network, answers, counts, reads documents and stops", async () => {
  verifies("package.server.starts-in-an-empty-folder");
  const { url, child } = await start(canBeAlone ? ALONE : []);
  // Inside of its own network, only a process that joins it can call the server.
  const joined = canBeAlone
    ? ["nsenter", "--target", String(child.pid), "--user", "--net", "--preserve-credentials"]
    : [];
  const call = (path: string, body?: object): unknown => {
    const sent =
      body === undefined ? [] : ["--header", "content-type: application/json", "--data", JSON.stringify(body)];
    const [program = "", ...args] = [
      ...joined,
      "curl",
      "--silent",
      "--header",
      `authorization: Bearer ${KEY}`,
      ...sent,
    ];
    return readJson(execFileSync(program, [...args, url + path], { encoding: "utf8" }));
  };
  const request = { model: "antiphon-built-in", input: "Say hello" };
  expect(call("/v1/responses", request)).toMatchObject({ status: "completed" });
  expect(call("/v1/responses/input_tokens", request)).toMatchObject({ object: "response.input_tokens" });
  const html = Buffer.from("<title>Tides</title><p>The moon pulls the sea.</p>").toString("base64");
  const file = { type: "input_file", filename: "a.html", file_data: `data:text/html;base64,${html}` };
  const reading = {
    ...request,
    input: [{ role: "user", content: [file, { type: "input_text", text: "Repeat this" }] }],
  };
  expect(call("/v1/responses", reading)).toMatchObject({ status: "completed" });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a Node that is too old starts the one that npm installed beside the package, or says what to install", async () => {
  verifies("config.start.old-node-is-named");
  const pretend = join(folder, "old.mjs");
  const versions = { ...process.versions, node: "20.19.0" };
  // Only the first process is made to look old: the one that it starts has no such argument.
  await writeFile(pretend, `Object.defineProperty(process, "versions", { value: ${JSON.stringify(versions)} })`);
  const asOld = (): ReturnType<typeof spawnSync> =>
    spawnSync(process.execPath, ["--import", pretend, join(installed, "bin/antiphon.js"), "--help"], {
      cwd: project,
      encoding: "utf8",
    });
  const without = asOld();
  expect(without.status).toBe(1);
  expect(without.stderr).toContain("Antiphon needs Node 24.11 or newer, and this is 20.19.0");
  const beside = join(project, `node_modules/node-${process.platform}-${process.arch}`);
  await unpackNode(beside);
  onTestFinished(() => rm(beside, { recursive: true }));
  expect(asOld()).toMatchObject({ status: 0, stdout: expect.stringContaining("Usage: antiphon"), stderr: "" });
});

/** A package with this Node in it. */
async function unpackNode(place: string): Promise<void> {
  await mkdir(join(place, "bin"), { recursive: true });
  await writeFile(join(place, "package.json"), '{ "name": "node", "version": "24.0.0" }');
  await symlink(process.execPath, join(place, "bin/node"));
}

async function start(
  under: readonly string[],
): Promise<{ readonly url: string; readonly child: ChildProcessWithoutNullStreams }> {
  const cwd = await mkdtemp(join(folder, "empty-"));
  // The new network's loopback interface is down at first.
  const up = under.length === 0 ? [] : ["sh", "-c", 'ip link set lo up; exec "$@"', "sh"];
  const [program, ...args] = [...under, ...up, process.execPath, join(installed, "bin/antiphon.js")];
  const env = { PATH: process.env["PATH"], API_KEYS: KEY, PORT: "0", STT_PORT: "0", SPEECH_ENGINE: "none" };
  const child = spawn(program, args, { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
  const address = /Responses API\s+(http:\S+)\/v1/;
  await expect.poll(() => said, { timeout: 60_000 }).toMatch(address);
  return { url: address.exec(said)?.[1] ?? "", child };
}
