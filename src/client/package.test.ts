import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendJson, startLocalServer } from "./http/local-server.fixture.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const MODULES = join(ROOT, "node_modules");
const ENTRY = "dist/client/src/client/index.js";
const BUILD_TIMEOUT_MS = 120_000;

const run = promisify(execFile);

/** Folder of a consumer project, with our package as packed by `npm pack` in its node_modules. */
let project = "";
let installed = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "antiphon-client-"));
  installed = join(project, "node_modules/antiphon");
  await mkdir(installed, { recursive: true });
  await run("npm", ["run", "--silent", "build:client"], { cwd: ROOT });
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], { cwd: ROOT });
  const tarball = (await readdir(project)).find((name) => name.endsWith(".tgz")) ?? "";
  await run("tar", ["-xzf", join(project, tarball), "-C", installed, "--strip-components=1"]);
  await symlink(join(MODULES, "eventsource-parser"), join(project, "node_modules/eventsource-parser"));
  await mkdir(join(project, "node_modules/@types"));
  for (const name of ["@types/node", "undici-types"]) {
    await symlink(join(MODULES, name), join(project, "node_modules", name));
  }
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
}, BUILD_TIMEOUT_MS);

afterAll(() => rm(project, { recursive: true, force: true }));

test("plain JavaScript imports antiphon/client and calls a server", async () => {
  await using server = await startLocalServer((reply) =>
    sendJson(reply, 404, { error: { message: "None.", code: "none" } }),
  );
  const code = `
    import { Antiphon, AntiphonSpeech, NotFoundError } from "antiphon/client";
    new AntiphonSpeech();
    const failure = await new Antiphon({ baseUrl: "${server.url}" }).getResponse("resp_1").catch((error) => error);
    console.log(failure instanceof NotFoundError, failure.code, failure.message);
  `;
  await writeFile(join(project, "main.js"), code);
  expect((await run(process.execPath, ["main.js"], { cwd: project })).stdout).toBe("true none None.\n");
});

const CONSUMER = `
import { Antiphon, AntiphonCloudSpeech, AntiphonSpeech, APIError, pcmMessages, type AnyStreamEvent, type LocalStt, type ResponsesApi } from "antiphon/client";

const client = new Antiphon({ baseUrl: "https://api.example.com/v1", apiKey: "sk-1" });
const plain: ResponsesApi.Response = await client.createResponse({ model: "m", input: "hi" });
const stream = await client.createResponse({ model: "m", input: "hi", stream: true });
let text = plain.id;
for await (const event of stream) {
  const known: AnyStreamEvent = event;
  if (event.type === "response.output_text.delta") text += event.delta.toUpperCase();
  if (known.type === "response.failed") throw new APIError({ message: text, status: null, code: null, param: null, type: null, requestId: null, headers: new Headers() });
}
const speech = new AntiphonSpeech({ streamTransport: "websocket", openSocket: (url) => new WebSocket(url) });
const words: LocalStt.Transcription = await speech.transcribe({ audio: new Blob([]) });
const cloud = new AntiphonCloudSpeech({ apiKey: "sk-1", baseUrl: "https://stt.example.com" });
for await (const message of await cloud.stream(pcmMessages([new Uint8Array(2)]))) if (message.type === "final") text += message.text;
// @ts-expect-error -- The member is called input.
await client.createResponse({ model: "m", inputs: "hi" });
// @ts-expect-error -- A plain reply is not a stream.
for await (const _ of plain) console.log(words.text);
`;

test.each([
  { module: "esnext", moduleResolution: "bundler", lib: "esnext,dom" },
  { module: "nodenext", moduleResolution: "nodenext", lib: "esnext,dom" },
  { module: "nodenext", moduleResolution: "nodenext", lib: "esnext", types: "node" },
])(
  "TypeScript checks a consumer with $moduleResolution, lib $lib and types $types",
  async (options) => {
    await writeFile(join(project, "consumer.ts"), CONSUMER);
    const settings = Object.entries({ types: "", ...options, target: "esnext" }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    const checked = run("tsc", ["--strict", "--noEmit", ...settings, "consumer.ts"], {
      cwd: project,
      env: environment(),
    });
    expect(await checked.catch((error: unknown) => error)).toMatchObject({ stdout: "" });
  },
  BUILD_TIMEOUT_MS,
);

test("the package contains the client and the page, and no server code", async () => {
  const files = await readdir(installed, { recursive: true, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(installed.length + 1));
  // npm always packs the file that `bin` names.
  const packedAlways = ["LICENSE", "README.md", "package.json", "src/main.ts"];
  expect(paths.filter((path) => !/^dist\/(chat-lab|client)\//.test(path) && !packedAlways.includes(path))).toEqual([]);
  expect(paths.filter((path) => /test|fixture|validators|readers|operations/.test(path))).toEqual([]);
});

test("all modules that the client imports run in a browser", async () => {
  const reached = await reach(ENTRY);
  const packages = [...reached.values()].flatMap(({ imports }) => imports).filter((name) => !name.startsWith("."));
  expect(new Set(packages)).toEqual(new Set(["eventsource-parser"]));
  for (const [path, { code }] of reached) {
    expect(code.match(/\b(Buffer|process|require|__dirname|setImmediate)\b/), path).toBeNull();
  }
});

interface Reached {
  readonly code: string;
  readonly imports: readonly string[];
}

/** The module at `path` and all modules of the package that it reaches through imports, by path. */
async function reach(path: string, reached = new Map<string, Reached>()): Promise<Map<string, Reached>> {
  if (reached.has(path)) return reached;
  const code = withoutComments(await readFile(join(installed, path), "utf8"));
  const imports = [...code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "");
  reached.set(path, { code, imports });
  for (const name of imports) if (name.startsWith(".")) await reach(join(dirname(path), name), reached);
  return reached;
}

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${join(MODULES, ".bin")}:${process.env["PATH"] ?? ""}` };
}
