import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { childrenOf, isAlive } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { scrape, startProcesses, TEST_TIMEOUT_MS } from "../processes/several-processes.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { findEngine } from "./code-sessions.ts";

const engine = await findEngine();
const BUBBLEWRAP = { CODE_ENGINE: "bubblewrap" };

/** A model that runs the user's text as code, and then says what it was told. */
async function codingModel(): Promise<string> {
  const { origin } = await serveChat((response, { body }) => {
    if (body === "") return void response.end("{}"); // The list of models.
    const { messages }: { messages: readonly { role: string; content: unknown }[] } = JSON.parse(body);
    const last = messages.at(-1);
    const text = String(last?.content);
    const call = { id: "call_1", type: "function", function: { name: "code_interpreter", arguments: "" } };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunks =
      last?.role === "tool"
        ? [textChunk(text), lastChunk("stop")]
        : [
            toolDelta(0, call),
            toolDelta(0, { function: { arguments: JSON.stringify({ code: text }) } }),
            lastChunk("tool_calls"),
          ];
    response.end(sse(...chunks, "[DONE]"));
  });
  return `${origin}/v1`;
}

async function newContainer(server: Pick<ChildServer, "post">): Promise<string> {
  const reply = await server.post("/v1/containers", { name: "test" });
  const { id } = await reply.json();
  return String(id);
}

/** Runs code in a container; resolves to what the model was told. */
async function run(server: Pick<ChildServer, "post">, container: string, code: string): Promise<string> {
  const tools = [{ type: "code_interpreter", container }];
  const { output } = await readResponse(await server.post("/v1/responses", { model: "m", input: code, tools }));
  return JSON.stringify(output.at(-1));
}

/** The processes that a process has started, and those that they have started, and so on. Linux only. */
function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

describe.skipIf(typeof engine === "string")("a server that runs code", { timeout: TEST_TIMEOUT_MS }, () => {
  test("tells its engine in the banner, in /readyz and in the metrics", async () => {
    verifies("operations.readiness.code-is-shown");
    const server = await startChildServer({ env: { ...BUBBLEWRAP, MODEL_BASE_URL: await codingModel() } });
    await expect.poll(() => server.said(), { timeout: 30_000 }).toMatch(/^Code runs in {7}bubblewrap, Python 3\.\d+$/m);
    expect(await (await server.fetch("/readyz")).json()).toMatchObject({ details: { code: "bubblewrap" } });
    expect((await scrape(server)).get('antiphon_code_sessions{engine="bubblewrap"}')).toBe(0);
    await run(server, await newContainer(server), "1");
    expect((await scrape(server)).get('antiphon_code_sessions{engine="bubblewrap"}')).toBe(1);
    expect(await server.stop()).toBe(0);
  });

  test("and is killed leaves no process and no temporary file, and its containers keep their files", async () => {
    const [folder, temporary] = [temporaryFolder(), await mkdtemp(join(tmpdir(), "antiphon-temporary-"))];
    onTestFinished(() => rm(temporary, { recursive: true, force: true }));
    const env = { ...BUBBLEWRAP, DATA_DIR: folder, TMPDIR: temporary, MODEL_BASE_URL: await codingModel() };
    const server = await startChildServer({ env });
    const container = await newContainer(server);
    await run(server, container, "x = 1; open('/mnt/data/a.txt', 'w').write('kept')");
    const endless =
      "import os\nopen('/mnt/data/b.txt', 'w').write('lost')\nif os.fork() == 0: os.setsid()\nwhile True: pass";
    const cut = run(server, container, endless).catch(() => null);
    const idle = await newContainer(server);
    await run(server, idle, "y = 1");
    await expect.poll(async () => descendantsOf(server.pid).length).toBeGreaterThan(4);
    const processes = descendantsOf(server.pid);
    await server.kill();
    await cut;
    await expect.poll(() => processes.filter(isAlive), { timeout: 30_000 }).toEqual([]);
    expect(await readdir(temporary)).toEqual([]);

    const next = await startChildServer({ env });
    const told = await run(next, container, "import os; print(os.listdir('/mnt/data'), 'x' in globals())");
    expect(told).toContain("['a.txt'] False");
    expect(told).toMatch(/variables of earlier calls are lost/);
    expect(await run(next, await newContainer(next), "1 + 1")).not.toMatch(/lost/);
  });

  test("with two processes shares the files of a container between them", async () => {
    const server = await startProcesses(2, { env: { ...BUBBLEWRAP, MODEL_BASE_URL: await codingModel() } });
    const container = await newContainer(server);
    let told = "";
    for (let call = 0; call < 6; call += 1)
      told = await run(server, container, "open('/mnt/data/n', 'a').write('x'); open('/mnt/data/n').read()");
    expect(told).toContain("xxxxxx");
    const makers = server
      .lines()
      .filter((line) => line["msg"] === "request" && line["path"] === "/v1/responses")
      .map((line) => line["pid"]);
    expect(new Set(makers).size).toBe(2);
    expect((await scrape(server)).get('antiphon_code_kills_total{reason="outdated"}')).toBeGreaterThan(0);
  });

  test("says what to set if the engine that is asked for is missing", async () => {
    const env = { ...BUBBLEWRAP, CODE_PYTHON: "/usr/bin/no-python", MODEL_BASE_URL: await codingModel() };
    const server = await startChildServer({ env });
    await expect.poll(() => server.said()).toMatch(/^Code does not run {2}CODE_ENGINE is bubblewrap\. .*no-python/m);
    expect(await (await server.fetch("/readyz")).json()).toMatchObject({ status: "ok", details: { code: "none" } });
  });
});
