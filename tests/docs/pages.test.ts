import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startToolServers } from "../clients/tool-servers.ts";
import { sends, serveHttp } from "../kit/http-server.ts";
import { whisperForTests } from "../speech/whisper-for-tests.ts";
import { HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { startEverything } from "../tools/mcp/mcp-servers.ts";
import { type CodeBlock, codeBlocks } from "./code-blocks.ts";
import { PYTHON, Reader, type ReaderOptions, ROOT } from "./reader.ts";

const PAGE_MS_MAX = 300_000;
const MODELS = JSON.stringify({ object: "list", data: [{ id: "llama", object: "model", created: 1, owned_by: "me" }] });

const pages = ["README.md", ...globSync("docs/*.md", { cwd: ROOT })].toSorted();
const blocks = new Map(pages.map((page) => [page, codeBlocks(page, readFileSync(join(ROOT, page), "utf8"))]));
const isPython = ({ language, code }: CodeBlock): boolean => language === "python" || code.startsWith("python3 ");
const isRun = ({ purpose }: CodeBlock): boolean => purpose.kind === "run";

/** What a page needs beside a server with its defaults. Null: this machine lacks it. */
const PREPARATIONS: Readonly<Record<string, () => Promise<ReaderOptions | null>>> = {
  "README.md": modelServer,
  "docs/models.md": modelServer,
  "docs/speech.md": speechEngine,
  "docs/tools.md": toolServers,
  "docs/webhooks.md": async () => ({ env: { EGRESS_ALLOW: "127.0.0.1" } }),
};

test.each(pages.filter((page) => blocks.get(page)?.some((block) => isRun(block) && !isPython(block))))(
  "%s: each command and program does what the page says",
  async (page) => {
    const options = (await (PREPARATIONS[page] ?? (async () => ({})))()) ?? null;
    if (options === null) return console.warn(`${page} is not run: this machine lacks what it needs.`);
    await follow(page, options, (block) => !isPython(block));
  },
  PAGE_MS_MAX,
);

test.skipIf(!existsSync(PYTHON)).each(pages.filter((page) => blocks.get(page)?.some(isPython)))(
  "%s: each program in Python does what the page says",
  (page) => follow(page, {}, isPython),
  PAGE_MS_MAX,
);

/** Pages that allow a system Node of 20, which knows no TypeScript and takes `import` only in `.mjs`. */
const FOR_NODE_20 = ["README.md", "docs/quickstart.md"];

test("the programs of the first pages have a file name and run on each Node that the pages allow", () => {
  const programs = FOR_NODE_20.flatMap((page) => blocks.get(page) ?? []).filter(({ language }) =>
    ["ts", "js", "python"].includes(language),
  );
  expect(programs.length).toBeGreaterThan(6);
  const commands = FOR_NODE_20.flatMap((page) => blocks.get(page) ?? [])
    .filter(({ language }) => language === "sh")
    .map(({ code }) => code.replace(/^(?:node|python3) /, "").trim());
  for (const { place, purpose } of programs) {
    const name = purpose.kind === "file" ? purpose.name : "";
    expect(name, place).toMatch(/\.(?:mjs|py)$/);
    expect(commands, place).toContain(name);
  }
});

test("no page runs TypeScript of the server, which older versions of Node refuse", () => {
  const commands = [...blocks.values()].flat().filter(({ language }) => language === "sh");
  expect(commands.filter(({ code }) => code.includes("src/main.ts")).map(({ place }) => place)).toEqual([]);
});

test("each block runs, or says why it does not", () => {
  const all = [...blocks.values()].flat();
  const count = (kind: CodeBlock["purpose"]["kind"]): number =>
    all.filter(({ purpose }) => purpose.kind === kind).length;
  const missing = all.flatMap(({ place, purpose }) =>
    purpose.kind === "run-elsewhere" && !existsSync(join(ROOT, purpose.test)) ? [`${place} names ${purpose.test}`] : [],
  );
  expect(missing).toEqual([]);
  const notRun = all.flatMap(({ place, purpose }) =>
    purpose.kind === "not-run" ? [`  ${place}: ${purpose.reason}`] : [],
  );
  console.log(
    `Blocks of README.md and docs/: ${count("run")} run, ${count("run-elsewhere")} run by other tests, ${notRun.length} not run:\n${notRun.join("\n")}`,
  );
});

/** Runs the wanted blocks of a page, and compares what they print with what the page says. */
async function follow(page: string, options: ReaderOptions, isWanted: (block: CodeBlock) => boolean): Promise<void> {
  const reader = await Reader.open(options);
  const wanted = blocks.get(page)?.filter(isWanted) ?? [];
  if (wanted.find(isRun)?.code !== "make start\n") await reader.prepare();
  for (const block of wanted) {
    if (block.purpose.kind === "file") await reader.write(block.purpose.name, block.code);
    if (block.purpose.kind !== "run") continue;
    const printed = await reader.run(block);
    if (block.purpose.prints !== null) expect(printed, block.place).toMatch(reader.expected(block.purpose.prints));
  }
}

/** A model server with a list of models. */
async function modelServer(): Promise<ReaderOptions> {
  const { url } = await serveHttp(sends(MODELS, { "content-type": "application/json" }));
  return { instead: { "http://127.0.0.1:8000": url } };
}

/** The engine with the demo model. */
async function speechEngine(): Promise<ReaderOptions | null> {
  const program = await whisperForTests();
  if (program === null) return null;
  return { env: { SPEECH_ENGINE: "whisper", WHISPER_SERVER_PATH: program, WHISPER_DOWNLOAD: "false" } };
}

/** A search server, an images server and an MCP server. */
async function toolServers(): Promise<ReaderOptions | null> {
  if (!HAS_BUBBLEWRAP) return null;
  const { env } = await startToolServers(onTestFinished);
  const { IMAGE_BASE_URL: images = "", ...settings } = env;
  const mcp = await startEverything("streamableHttp");
  return {
    env: settings,
    instead: { "https://mcp.example.com/mcp": mcp.url, "http://127.0.0.1:8188/v1": images },
  };
}
