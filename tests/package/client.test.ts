import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendJson, startLocalServer } from "../../packages/client/src/http/local-server.fixture.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { verifies } from "../verifies.ts";
import { filesOf, linkPackages, PACK_TIMEOUT_MS, packClient, unpack } from "./packed.ts";

const MODULES = resolve(import.meta.dirname, "../../node_modules");
const ENTRY = "dist/packages/client/src/index.js";

const run = promisify(execFile);

/** Folder of a consumer project, with the client as packed by `npm pack` in its node_modules. */
let project = "";
let installed = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "antiphon-client-"));
  installed = await unpack(await packClient(project), project, "antiphon-client");
  await linkPackages(project, ["eventsource-parser", "@types/node", "undici-types"]);
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
}, PACK_TIMEOUT_MS);

afterAll(() => rm(project, { recursive: true, force: true }));

test("plain JavaScript imports the client and calls a server", async () => {
  verifies("package.client.stands-alone");
  await using server = await startLocalServer((reply) =>
    sendJson(reply, 404, { error: { message: "None.", code: "none" } }),
  );
  const code = `
    import { Antiphon, AntiphonSpeech, NotFoundError } from "antiphon-client";
    new AntiphonSpeech();
    const failure = await new Antiphon({ baseUrl: "${server.url}" }).getResponse("resp_1").catch((error) => error);
    console.log(failure instanceof NotFoundError, failure.code, failure.message);
  `;
  await writeFile(join(project, "main.js"), code);
  expect((await run(process.execPath, ["main.js"], { cwd: project })).stdout).toBe("true none None.\n");
});

const CONSUMER = `
import { Antiphon, AntiphonCloudSpeech, AntiphonSpeech, APIError, pcmMessages, type AnyStreamEvent, type LocalStt, type ResponsesApi } from "antiphon-client";

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
  PACK_TIMEOUT_MS,
);

test("the package holds the client alone, with one small dependency", async () => {
  const paths = await filesOf(installed);
  const beside = paths.filter((path) => !path.startsWith("dist/"));
  expect(beside.toSorted()).toEqual(["LICENSE", "README.md", "package.json"]);
  expect(paths.filter((path) => /test|fixture|validators|readers|operations/.test(path))).toEqual([]);
  const manifests = [join(installed, "package.json"), join(import.meta.dirname, "../../package.json")];
  const [client, server] = await Promise.all(manifests.map(async (path) => JSON.parse(await readFile(path, "utf8"))));
  expect(client.version).toBe(server.version);
  expect(client.dependencies).toEqual({ "eventsource-parser": server.dependencies["eventsource-parser"] });
});

test.skipIf(CHROMIUM === null)(
  "Vite bundles the package, and a browser streams an answer with it",
  async () => {
    verifies("package.client.runs-in-a-browser");
    const events = [
      { type: "response.output_text.delta", delta: "Hel", sequence_number: 0 },
      { type: "response.output_text.delta", delta: "lo", sequence_number: 1 },
    ];
    const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    let script = "";
    await using server = await startLocalServer((reply, request) => {
      const isScript = request.url === "/main.js";
      if (request.method === "POST") reply.writeHead(200, { "content-type": "text/event-stream" }).end(stream);
      else
        reply
          .writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" })
          .end(isScript ? script : '<!doctype html><p id="text"></p><script type="module" src="/main.js"></script>');
    });
    script = await bundle(`
      import { Antiphon } from "antiphon-client";
      const client = new Antiphon({ baseUrl: location.origin });
      let text = "";
      try {
        for await (const event of await client.createResponse({ model: "m", input: "hi", stream: true }))
          if (event.type === "response.output_text.delta") text += event.delta;
      } finally {
        document.querySelector("#text").textContent = text;
      }`);
    expect(await textInBrowser(server.url)).toBe("Hello");
  },
  PACK_TIMEOUT_MS,
);

/** One script of the program and all that it imports, as Vite builds it. */
async function bundle(code: string): Promise<string> {
  await writeFile(join(project, "main.js"), code);
  const outDir = join(project, "built");
  const lib = { entry: join(project, "main.js"), formats: ["es" as const], fileName: "main" };
  await build({ configFile: false, root: project, logLevel: "error", build: { outDir, lib } });
  return await readFile(join(outDir, "main.js"), "utf8");
}

async function textInBrowser(url: string): Promise<string> {
  const browser: Browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForFunction("document.querySelector('#text').textContent !== ''");
    return await page.locator("#text").innerText();
  } finally {
    await browser.close();
  }
}

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
