import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { CODE_ENGINE } from "../tools/code-engines.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import { ASKED, BEGUN, KNOWN, OTHER, startBreakingServer, WHOLE } from "./breaking-server.ts";
import { CODE_SCENARIOS, SALES, SUMS, TURNS } from "./code-scenarios.ts";
import { startInvoiceServer } from "./invoice-model.ts";
import { WEATHER } from "./openai-client.ts";
import { startToolServers, toolScenarios } from "./tool-servers.ts";

const FOLDER = join(import.meta.dirname, "python");
/** What `make test-setup` installs where there is a python3 with venv. Without it the tests are skipped. */
const PYTHON = resolve(import.meta.dirname, "../../.cache/python-clients/bin/python");
const TIMEOUT_MS = 60_000;
const REQUIREMENTS = readFileSync(join(FOLDER, "requirements.txt"), "utf8");

const others = await startToolServers();
const server = await startTestServer({ env: others.env, scenario: toolScenarios(others) });
afterAll(() => server.close());
const breaking = await startBreakingServer();
const invoices = await startInvoiceServer();
const codeServer = await startTestServer({ env: CODE_ENGINE, scenario: CODE_SCENARIOS });
afterAll(() => codeServer.close());

const turns = TURNS.map(({ input }) => input);
const texts = TURNS.map(({ text }) => text);

const running: ChildProcess[] = [];
afterAll(() =>
  Promise.all(
    running.map(async (child) => {
      const closed = once(child, "close");
      child.stdin?.end();
      await closed;
    }),
  ),
);

/** Starts one of the programs, which ends with the file. It does one thing at a time, with an MCP server of its own. */
function program(name: string, { url, apiKey } = server) {
  const child = spawn(PYTHON, ["-u", join(FOLDER, name)], {
    env: {
      PATH: process.env["PATH"],
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: apiKey,
      OPENAI_AGENTS_DISABLE_TRACING: "1",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  running.push(child);
  return async (way: string, more: object = {}) => {
    const shop = await startModern({ legacy: true });
    child.stdin.write(`${JSON.stringify({ way, shop: shop.url, ...more })}\n`);
    const { value } = await lines.next();
    const told: unknown = JSON.parse(value ?? '"the program ended"');
    return { told, ran: shop.ran };
  };
}

type Program = ReturnType<typeof program>;

function version(name: string): string {
  return new RegExp(`^${name}==(.+)$`, "m").exec(REQUIREMENTS)?.[1] ?? "";
}

const SEARCH = ["web_search_call", "web_search_call", "message"];

describe.skipIf(!existsSync(PYTHON))(`openai (Python) ${version("openai")}`, { timeout: TIMEOUT_MS }, () => {
  let run: Program;
  beforeAll(() => {
    run = program("openai_client.py");
  });

  test("stream() shows a search, its steps and its citation", async () => {
    const { told } = await run("web_search");
    expect(told).toMatchObject({
      output: SEARCH,
      text: expect.stringContaining("They wait."),
      events: expect.arrayContaining(["response.web_search_call.searching", "response.output_text.annotation.added"]),
      content: expect.arrayContaining([expect.objectContaining({ action: { type: "open_page", url: others.page } })]),
    });
  });

  test("create() reads a search", async () => {
    expect((await run("plain_search")).told).toMatchObject({ output: SEARCH });
  });

  test("each helper of vector stores works", async () => {
    expect((await run("vector_stores")).told).toEqual({
      names: ["Owls", "Birds", "Birds"],
      listed: true,
      statuses: ["completed", "completed", "failed", "completed", "completed", "completed", "completed"],
      attributes: [{ year: 2020 }, { year: 2021 }],
      content: ["Owls fly at night."],
      found: ["a.txt"],
      counts: [3, 2, 2, 2],
      deleted: [true, true],
    });
  });

  test.each([
    ["create()", "plain_file_search", []],
    [
      "stream()",
      "streamed_file_search",
      ["response.file_search_call.searching", "response.output_text.annotation.added"],
    ],
  ])("%s shows a search in files, its results and its citation", async (_name, way, events) => {
    const { told } = await run(way);
    const citation = expect.objectContaining({ type: "file_citation", filename: "owls.txt", index: 9 });
    expect(told).toMatchObject({
      output: ["file_search_call", "message"],
      text: "At night. Yes.",
      events: expect.arrayContaining(events),
      content: [
        { queries: ["owl night"], results: [{ filename: "owls.txt", text: "Owls fly at night." }] },
        { content: [{ annotations: [citation] }] },
      ],
    });
  });

  test.each(["plain_code", "streamed_code"])(
    "a table is uploaded, analysed over three turns of a chain, and its chart downloaded: %s",
    async (way) => {
      const { told } = await program("openai_client.py", codeServer)(way, { turns, sales: SALES });
      expect(told).toEqual({
        texts,
        statuses: texts.map(() => "completed"),
        logs: ["4 rows", SUMS, ""],
        cited: "chart.png",
        png: true,
        files: expect.arrayContaining(["/mnt/data/chart.png", "/mnt/data/sales.csv"]),
        left: ["/mnt/data/chart.png"],
        container: [[true], "running", []],
      });
    },
  );

  test.each([
    [ASKED.same, [WHOLE]],
    [ASKED.other, [BEGUN, OTHER]],
  ])("stream() reads a text that was interrupted: %s", async (said, shown) => {
    verifies("state.crash.open-items-go-on");
    const { told } = await program("openai_client.py", breaking)("continued", { said });
    expect(told).toMatchObject({ text: shown.join(""), content: shown.map((text) => ({ content: [{ text }] })) });
  });

  test("stream() reads a call that was interrupted and made anew", async () => {
    verifies("state.crash.open-items-go-on");
    const way = { said: ASKED.call, function: { ...WEATHER, strict: false } };
    const { told } = await program("openai_client.py", breaking)("continued_call", way);
    expect(told).toMatchObject({
      output: ["function_call", "function_call"],
      statuses: ["incomplete", "completed"],
      answer: KNOWN,
    });
  });

  test("stream() shows a picture", async () => {
    const { told } = await run("image_generation");
    expect(told).toMatchObject({ output: ["image_generation_call", "message"], text: "Here it is." });
  });

  test("stream() shows the call of an MCP server", async () => {
    const { told, ran } = await run("mcp");
    expect(told).toMatchObject({ output: ["mcp_list_tools", "mcp_call", "message"], text: "I asked the shop." });
    expect(ran).toEqual(["pay 3"]);
  });

  test.each([
    ["approve", ["mcp_call", "message"], ["pay 3"]],
    ["deny", ["message"], []],
  ])("an MCP call waits for its approval: %s", async (way, output, expected) => {
    const { told, ran } = await run(way);
    expect(told).toMatchObject({ output, text: "I asked the shop." });
    expect(ran).toEqual(expected);
  });
});

describe.skipIf(!existsSync(PYTHON))(
  `openai-agents (Python) ${version("openai-agents")}`,
  { timeout: TIMEOUT_MS },
  () => {
    let run: Program;
    beforeAll(() => {
      run = program("agents_client.py");
    });

    test.each(["plain_search", "streamed_search"])(
      "an agent searches, and goes on from its history: %s",
      async (way) => {
        expect((await run(way)).told).toMatchObject({
          text: expect.stringContaining("They wait."),
          items: ["tool_call_item", "tool_call_item", "message_output_item"],
          again: expect.stringContaining("Find herons in depth"),
        });
      },
    );

    test.each(["plain_programs", "streamed_programs"])("a program calls the agent's functions: %s", async (way) => {
      expect((await run(way)).told).toMatchObject({
        text: "I counted.",
        counted: ["a", "b"],
        outputs: ['{"total":3}'],
      });
    });

    test("an agent goes on from reasoning that a session keeps", async () => {
      verifies("create.history.reasoning-before-message-without-id");
      expect((await run("session")).told).toMatchObject({
        text: "It turns.",
        items: ["reasoning_item", "message_output_item"],
        again: expect.stringContaining("When does the tide turn?"),
      });
    });

    test.each(["plain_file_search", "streamed_file_search"])(
      "an agent searches files, and goes on from its history: %s",
      async (way) => {
        const store = await createStore(server, [await upload(server, "owls.txt", "Owls fly at night.")]);
        await takenIn(server, store);
        expect((await run(way, { store })).told).toMatchObject({
          text: "At night. Yes.",
          items: ["tool_call_item", "message_output_item"],
          again: expect.stringContaining("When do owls fly?"),
        });
      },
    );

    test.each(["plain_code", "streamed_code"])(
      "an agent analyses a table, and goes on from its history: %s",
      async (way) => {
        const files = [await upload(codeServer, "sales.csv", SALES)];
        const { told } = await program("agents_client.py", codeServer)(way, { turns, files });
        expect(told).toMatchObject({ texts, containers: 1, items: ["tool_call_item", "message_output_item"] });
      },
    );

    test.each([
      [ASKED.same, WHOLE],
      [ASKED.other, OTHER],
    ])("an agent reads a text that was interrupted, and goes on from its history: %s", async (said, text) => {
      verifies("state.crash.open-items-go-on");
      const { told } = await program("agents_client.py", breaking)("continued", { said, next: ASKED.same });
      expect(told).toEqual({ texts: [text, WHOLE] });
    });

    test("an agent makes a call that was interrupted and made anew", async () => {
      verifies("state.crash.open-items-go-on");
      const { told } = await program("agents_client.py", breaking)("continued_call", { said: ASKED.call });
      expect(told).toEqual({ text: KNOWN, cities: ["Paris"] });
    });

    test("an agent draws", async () => {
      expect((await run("image_generation")).told).toMatchObject({ text: "Here it is." });
    });

    test("an agent calls an MCP server", async () => {
      const { told, ran } = await run("mcp");
      expect(told).toMatchObject({ text: "I asked the shop." });
      expect(ran).toEqual(["pay 3"]);
    });

    test.each([
      ["callback_approves", ["pay 3"]],
      ["callback_denies", []],
      ["person_approves", ["pay 3"]],
      ["person_denies", []],
    ])("an MCP call waits for its approval: %s", async (way, expected) => {
      const { told, ran } = await run(way);
      expect(told).toMatchObject({ text: "I asked the shop.", asked: ["pay"] });
      expect(ran).toEqual(expected);
    });
  },
);

describe.skipIf(!existsSync(PYTHON))(
  `pydantic-ai-slim (Python) ${version("pydantic-ai-slim")}`,
  { timeout: TIMEOUT_MS },
  () => {
    let run: Program;
    beforeAll(() => {
      run = program("pydantic_ai_client.py", invoices);
    });

    test.each(["whole", "stripped"])(
      "an agent finds a tool, calls it, and goes on from its history: %s",
      async (way) => {
        verifies("create.history.tool-search-with-own-id");
        expect((await run(way)).told).toMatchObject({
          text: "Done.",
          parts: expect.arrayContaining(["builtin-tool-call", "tool-call", "tool-return"]),
          again: "Shown 2 outputs.",
        });
      },
    );
  },
);
