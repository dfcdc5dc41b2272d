import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Antiphon, type Response } from "../../packages/client/src/index.ts";
import { type DemoRuns, makeDemoRuns } from "../../scripts/demo/demo-runs.ts";
import { type DemoServer, startDemoServer } from "../../scripts/demo/demo-server.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { startTestServer } from "../kit/test-server.ts";
import { someCases } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** What `make test-setup` installs where there is a python3 with venv. */
const PYTHON = join(ROOT, ".cache/python-clients/bin/python");
const run = promisify(execFile);

let browser: Browser;
let server: DemoServer;
let runs: DemoRuns;
let client: Antiphon;
/** Within the clone, so that programs find the packages. */
let folder: string;
/** A run whose request has what is hard to write as code. */
let difficult: Response;

describe.skipIf(CHROMIUM === null)("an export of the inspector", () => {
  beforeAll(async () => {
    buildPages();
    await mkdir(join(ROOT, "build"), { recursive: true });
    [browser, server, folder] = await Promise.all([
      startChromium(),
      startDemoServer(),
      mkdtemp(join(ROOT, "build/exports-")),
    ]);
    client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
    runs = await makeDemoRuns(server);
    difficult = await client.createResponse({
      model: "antiphon-built-in",
      instructions: `It's "quoted" \\ $HOME \`ls\` ${"x".repeat(200_000)}`,
      input: [
        { type: "message", role: "user", content: "Say good morning.\nREQUEST\nüñ ☂ 🦉" },
        { type: "message", role: "assistant", content: "Good morning." },
        { type: "message", role: "user", content: "Say 'good night'." },
      ],
      presence_penalty: 0.5,
      parallel_tool_calls: false,
      metadata: { note: "a \"b\" 'c'" },
    });
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close()]);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const asked = (): Readonly<Record<string, Response>> => ({
    "a call of an MCP server": runs.weekend,
    "a call of a function": runs.invoice,
    "the output of a function": runs.paid,
    "the end of a chain": runs.chained,
    "quotes, signs and a long text": difficult,
  });

  const NAMES = [
    "a call of an MCP server",
    "a call of a function",
    "the output of a function",
    "the end of a chain",
    "quotes, signs and a long text",
  ];

  /** The export of a run, downloaded as people do; resolves to the path of the file. */
  async function download(id: string, form: string): Promise<string> {
    const page = await open(id);
    await page.getByRole("tab", { name: form }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: /^Download/ }).click(),
    ]);
    const path = join(await mkdtemp(join(folder, "file-")), file.suggestedFilename());
    await file.saveAs(path);
    return path;
  }

  async function open(id: string): Promise<Page> {
    const page = await openInspector(browser, { server, query: `?run=${id}` });
    await page.getByText("No rule broken").waitFor();
    await page.getByRole("button", { name: "Export" }).click();
    return page;
  }

  /** What a program prints that gets the key as the export says. */
  async function printed(program: string, path: string): Promise<string> {
    const env = { PATH: process.env["PATH"], ANTIPHON_API_KEY: server.apiKey };
    const { stdout } = await run(program, [path], { env, maxBuffer: 1e8 });
    return stdout;
  }

  test.each(someCases(NAMES, 2))("as a curl command makes the run again: %s", async (name) => {
    const made = expected(asked(), name);
    const again = responseIn(await printed("bash", await download(made.id, "curl")));
    expect(saidIn(again)).toEqual(saidIn(made));
    expect([again.instructions, again.metadata]).toEqual([made.instructions, made.metadata]);
  });

  test.each(someCases(NAMES, 2, 1))("as TypeScript makes the run again: %s", async (name) => {
    const made = expected(asked(), name);
    expect((await printed(process.execPath, await download(made.id, "TypeScript"))).trim()).toBe(saidIn(made));
  });

  test.skipIf(!existsSync(PYTHON)).each(NAMES)("as Python makes the run again: %s", async (name) => {
    const made = expected(asked(), name);
    expect((await printed(PYTHON, await download(made.id, "Python"))).trim()).toBe(saidIn(made));
  });

  test("as linter input is what the linter reads", async () => {
    const path = await download(runs.weekend.id, "Linter input");
    const { stdout } = await run(process.execPath, [join(ROOT, "src/main.ts"), "lint-stream", path], { cwd: ROOT });
    expect(stdout).toMatch(/no faults|0 faults|fine|ok/i);
  });

  /** The code of a run in each form that sends its request again. */
  async function codeOf(id: string): Promise<Readonly<Record<string, string>>> {
    const page = await open(id);
    const codes: Record<string, string> = {};
    for (const form of ["curl", "TypeScript", "Python"]) {
      await page.getByRole("tab", { name: form }).click();
      const code = page.getByRole("region", { name: form });
      await code.waitFor();
      codes[form] = (await code.textContent()) ?? "";
    }
    return codes;
  }

  test("asks for no stream where the run was none", async () => {
    verifies("inspection.page.export-streams");
    for (const code of Object.values(await codeOf(runs.chained.id))) expect(code).not.toMatch(/stream|^curl -\w*N/);
  });

  test.each(["streamed", "websocket"])("asks for a stream where the run was one: %s", async (kind) => {
    verifies("inspection.page.export-streams");
    const codes = await codeOf(kind === "streamed" ? runs.invoice.id : await madeOnSocket());
    expect(codes).toEqual({
      curl: expect.stringMatching(/^curl -sSN .*"stream": true\n}/s),
      TypeScript: expect.stringContaining("stream: true\n})"),
      Python: expect.stringContaining("stream=True,"),
    });
  });

  test("of curl shows the events of a stream", async () => {
    verifies("inspection.page.export-streams");
    const events = await printed("bash", await download(runs.invoice.id, "curl"));
    expect(events).toMatch(/^event: response.created\n.*\n\nevent: response.completed\n/s);
  });

  async function madeOnSocket(): Promise<string> {
    const socket = await openSocket(server);
    return (await socket.create({ input: "Say good morning." })).response.id;
  }

  test.each(["a call of an MCP server", "a call of a function", "the end of a chain"])(
    "as a scenario makes another server answer the same: %s",
    async (name) => {
      const made = expected(asked(), name);
      const scenario = await readFile(await download(made.id, "Scenario"), "utf8");
      const other = await startTestServer({ scenario, env: { EGRESS_ALLOW: "127.0.0.1" } });
      try {
        const request = await requestFrom(await download(made.id, "curl"));
        const members = { ...request, previous_response_id: undefined, stream: false };
        const reply = await other.post("/v1/responses", members);
        const again: Response = JSON.parse(await reply.text());
        expect(saidIn(again)).toEqual(saidIn(made));
        expect(again.usage?.output_tokens).toBe(made.usage?.output_tokens);
      } finally {
        await other.close();
      }
    },
  );
});

function expected(all: Readonly<Record<string, Response>>, name: string): Response {
  const made = all[name];
  if (made === undefined) throw new Error("There is no such run.");
  return made;
}

/** The body of an exported command. */
async function requestFrom(path: string): Promise<Readonly<Record<string, unknown>>> {
  const command = await readFile(path, "utf8");
  return JSON.parse(command.slice(command.indexOf("{"), command.lastIndexOf("}") + 1));
}

/** The response that a command has printed, as JSON or at the end of a stream. */
function responseIn(text: string): Response {
  const last = text
    .trimEnd()
    .split("\n")
    .findLast((line) => line.startsWith('data: {"type":"response.completed"'));
  return last === undefined ? JSON.parse(text) : JSON.parse(last.slice("data: ".length)).response;
}

/** The text of an answer, and its calls of functions, as the exported programs print them. */
function saidIn({ output }: Response): string {
  return output
    .flatMap((item) => {
      if (item.type === "function_call") return [`${item.name} ${item.arguments}`];
      if (item.type !== "message") return [];
      return item.content.map((part) => ("text" in part ? part.text : ""));
    })
    .join("")
    .trim();
}
