import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { verifies } from "../verifies.ts";
import { CODEX_FOLDER, type CodexOptions, type CodexRun, CodexScratch } from "./codex-exec.ts";
import { installedVersion } from "./installed-version.ts";
import { startToolServers, toolScenarios } from "./tool-servers.ts";

const TEST_TIMEOUT_MS = 60_000;

const SCENARIO = `
models: [antiphon-coder, gpt-5.5, gpt-6-sol, unknown-to-codex]
scenarios:
  - when: { input_contains: context checkpoint }
    events: [{ text: The file steps.txt holds one line. }]
  - when: { input_contains: summary of this conversation }
    events: [{ text: The file steps.txt holds one line. }]
  - when: { context_contains: holds one line }
    events: [{ text: I know that it holds one line. }]

  - when: { input_contains: three steps, tool_outputs: 0 }
    events:
      - reasoning_summary: ["**Beginning**"]
      - message: { phase: commentary }
      - text: I will write, add and read.
      - call: { name: exec_command, call_id: call_1, arguments: { cmd: "echo one > steps.txt" }, chunks: 3 }
  - when: { input_contains: three steps, tool_outputs: 1 }
    events:
      - reasoning_summary: ["**Going on**"]
      - call: { name: exec_command, call_id: call_2, arguments: { cmd: "echo two >> steps.txt" } }
  - when: { input_contains: three steps, tool_outputs: 2 }
    events: [{ call: { name: exec_command, call_id: call_3, arguments: { cmd: "wc -l < steps.txt" } } }]
  - when: { input_contains: three steps, tool_outputs: 3 }
    events: [{ message: { phase: final_answer } }, { text: The file has two lines. }]

  - when: { input_contains: two at once, tool_outputs: 0 }
    events:
      - call: { name: exec_command, call_id: call_a, arguments: { cmd: "echo a > a.txt" } }
      - call: { name: exec_command, call_id: call_b, arguments: { cmd: "echo b > b.txt" } }
  - when: { input_contains: two at once }
    events: [{ text: Both are there. }]

  - when: { input_contains: patch, tool_outputs: 0 }
    events:
      - custom_call:
          name: apply_patch
          call_id: call_p
          chunks: 5
          input: |-
            *** Begin Patch
            *** Update File: greeting.txt
            @@
            -hello
            +good morning
            *** Add File: new.txt
            +made by a patch
            *** End Patch
  - when: { input_contains: patch }
    events: [{ text: Patched. }]

  - when: { model: gpt-6-sol, tool_outputs: 0 }
    events:
      - custom_call:
          namespace: functions
          name: exec
          call_id: call_js
          input: 'const result = await tools.exec_command({ cmd: "echo from code > code.txt; cat code.txt" }); text(result.output ?? result);'
  - when: { model: gpt-6-sol }
    events: [{ text: Ran it. }]

  - when: { input_contains: look for a tool, tool_outputs: 0 }
    events: [{ raw: { type: tool_search, callId: call_s, arguments: { query: spawn agent, limit: 3 } } }]
  - when: { input_contains: look for a tool, tool_outputs: 1 }
    events: [{ call: { name: close_agent, namespace: multi_agent_v1, call_id: call_t, arguments: { target: nobody } } }]
  - when: { input_contains: look for a tool, tool_outputs: 2 }
    events: [{ text: Found it and called it. }]

  - when: { input_contains: compact midway, tool_outputs: 0 }
    events:
      - call: { name: exec_command, call_id: call_c, arguments: { cmd: "echo one > steps.txt" } }
      - usage: { input_tokens: 150000, output_tokens: 10 }

  - when: { input_contains: pay with the shop, has_tool_output: false }
    events: [{ call: { name: pay, namespace: mcp__shop, arguments: { amount: 3 } } }]
  - when: { input_contains: pay with the shop }
    events: [{ text: Paid. }]

  - when: { input_contains: busy }
    events:
      - refuse_turn: { status: 429, type: rate_limit_error, code: rate_limit_exceeded, message: Slow down. }
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

let server: TestServer;
let scratch: CodexScratch | null = null;
/** Method, path and status of each call to the server. */
let calls: string[] = [];
beforeAll(async () => {
  server = await startTestServer({ scenario: SCENARIO, log: callLog() });
});
beforeEach(() => {
  calls = [];
});
afterEach(async () => {
  await scratch?.close();
  scratch = null;
});
afterAll(() => server.close());

async function open(options: CodexOptions = {}): Promise<CodexScratch> {
  scratch = await CodexScratch.open(server, options);
  return scratch;
}

describe(`@openai/codex ${installedVersion("@openai/codex", CODEX_FOLDER)}`, { timeout: TEST_TIMEOUT_MS }, () => {
  const ways = [
    ["HTTP", "own"],
    ["a WebSocket", "websocket"],
    ["its built-in provider", "built-in"],
  ] as const;

  test.each(ways)("completes a task in three shell commands over %s", async (_, provider) => {
    verifies("client.providers.swappable", "create.input.codex-notes-accepted");
    const codex = await open({ provider });
    const run = await codex.exec("Take three steps.");
    expect(run).toMatchObject({ exitCode: 0, lastMessage: "The file has two lines." });
    expect(await codex.read("steps.txt")).toBe("one\ntwo\n");
    expect(commandsOf(run)).toEqual([0, 0, 0]);
    expectCalls(provider, 4);
  });

  test.each(ways)("applies a patch from a custom tool call over %s", async (_, provider) => {
    const codex = await open({ provider });
    await writeFile(join(codex.folder, "greeting.txt"), "hello\n");
    expect(await codex.exec("Apply the patch.")).toMatchObject({ exitCode: 0, lastMessage: "Patched." });
    expect(await codex.read("greeting.txt")).toBe("good morning\n");
    expect(await codex.read("new.txt")).toBe("made by a patch\n");
    expectCalls(provider, 2);
  });

  test.each(ways)("runs parallel calls over %s", async (_, provider) => {
    const codex = await open({ provider });
    expect(await codex.exec("Do two at once.")).toMatchObject({ exitCode: 0, lastMessage: "Both are there." });
    expect([await codex.read("a.txt"), await codex.read("b.txt")]).toEqual(["a\n", "b\n"]);
    expectCalls(provider, 2);
  });

  test.each(ways)("resumes a session with its history over %s", async (_, provider) => {
    const codex = await open({ provider });
    await codex.exec("Take three steps.");
    const run = await codex.exec("resume", "--last", "What did I say?");
    expect(run.exitCode).toBe(0);
    expect(run.lastMessage).toContain("Take three steps.");
    expectCalls(provider, 5);
  });

  test.each(ways)("drives a known model, in code mode, over %s", async (_, provider) => {
    const codex = await open({ model: "gpt-6-sol", provider });
    expect(await codex.exec("Go.")).toMatchObject({ exitCode: 0, lastMessage: "Ran it." });
    expect(await codex.read("code.txt")).toBe("from code\n");
    expectCalls(provider, 2);
  });

  test.each(ways)("searches for a tool and calls it over %s", async (_, provider) => {
    const codex = await open({ model: "gpt-5.5", provider });
    const run = await codex.exec("Look for a tool.");
    expect(run).toMatchObject({ exitCode: 0, lastMessage: "Found it and called it." });
    expectCalls(provider, 3);
  });

  test.each(["websocket", "built-in"] as const)(
    "falls back to HTTP within its first turn if WebSocket is off, as provider %s",
    async (provider) => {
      verifies("websocket.responses.switched-off");
      const plain = await startTestServer({ scenario: SCENARIO, log: callLog(), env: { WEBSOCKET_MODE: "false" } });
      scratch = await CodexScratch.open(plain, { provider });
      const run = await scratch.exec("Take three steps.");
      expect(run).toMatchObject({ exitCode: 0, lastMessage: "The file has two lines." });
      expectCalls("own", 4);
    },
  );

  test("works with a model of unknown name", async () => {
    const codex = await open({ model: "unknown-to-codex" });
    expect(await codex.exec("Take three steps.")).toMatchObject({
      exitCode: 0,
      lastMessage: "The file has two lines.",
    });
  });

  test.each(ways)("searches the web over %s", async (_, provider) => {
    const others = await startToolServers(onTestFinished);
    const scenario = toolScenarios(others).replace("[gpt-5-mini]", "[antiphon-coder]");
    const searching = await startTestServer({ env: others.env, scenario });
    scratch = await CodexScratch.open(searching, { provider, config: 'web_search = "live"' });
    const run = await scratch.exec("Find herons in depth.");
    expect(run.exitCode).toBe(0);
    expect(run.lastMessage).toContain("They wait.");
    expect(run.lines.filter(({ type, item }) => type === "item.completed" && item?.type === "web_search")).toHaveLength(
      2,
    );
    expect(others.searched).toEqual(["herons water"]);
  });

  test("calls an MCP server of its configuration", async () => {
    const shop = await startModern({ legacy: true });
    const codex = await open({ tables: `[mcp_servers.shop]\nurl = "${shop.url}"` });
    const run = await codex.exec("Please pay with the shop.");
    expect(run).toMatchObject({ exitCode: 0, lastMessage: "Paid." });
    expect(shop.ran).toEqual(["pay 3"]);
  });

  test("gets an answer that fits an output schema", async () => {
    const codex = await open();
    const schema = join(codex.folder, "schema.json");
    await writeFile(
      schema,
      JSON.stringify({
        type: "object",
        properties: { city: { type: "string" }, degrees: { type: "integer" } },
        required: ["city", "degrees"],
        additionalProperties: false,
      }),
    );
    const run = await codex.exec("--output-schema", schema, "How warm is it in Paris?");
    expect(run.exitCode).toBe(0);
    expect(JSON.parse(run.lastMessage)).toEqual({ city: expect.any(String), degrees: expect.any(Number) });
  });

  test("shows the model an image", async () => {
    const codex = await open({ config: "features = { view_image = false, multi_agent = false, goals = false }" });
    const picture = join(codex.folder, "dot.png");
    await writeFile(picture, Buffer.from(ONE_PIXEL_PNG, "base64"));
    const run = await codex.exec("Thoughts?", "-i", picture);
    expect(run.exitCode).toBe(0);
    expect(run.lastMessage).toContain("1 image");
  });

  test.each(ways)("shortens its context midway and continues over %s", async (_, provider) => {
    const codex = await open({ provider, config: "model_auto_compact_token_limit = 100000" });
    const run = await codex.exec("compact midway");
    expect(run).toMatchObject({ exitCode: 0, lastMessage: "I know that it holds one line." });
    expectCalls(provider, 3);
  });

  test("ends with an error when the server refuses or the model fails", async () => {
    const codex = await open();
    for (const [prompt, message] of [
      ["busy", "429 Too Many Requests"],
      ["dies midway", "The model broke off."],
    ] as const) {
      const run = await codex.exec(prompt);
      expect(run.exitCode).toBe(1);
      expect(JSON.stringify(run.lines)).toContain(message);
    }
  });
});

/** The exit codes of the commands, in order. */
function commandsOf({ lines }: CodexRun): readonly unknown[] {
  return lines
    .filter(({ type, item }) => type === "item.completed" && item?.type === "command_execution")
    .map(({ item }) => item?.["exit_code"]);
}

/** Expects this number of responses created over HTTP, or none if all went over a WebSocket. */
function expectCalls(provider: CodexOptions["provider"], count: number): void {
  const expected = provider === "own" ? count : 0;
  expect(calls.filter((call) => call.startsWith("POST "))).toEqual(
    Array.from({ length: expected }, () => "POST /v1/responses 200"),
  );
}

function callLog(): Logger {
  return {
    ...silentLogger,
    info: (fields, message) => {
      const { method, path, status }: Record<string, unknown> = { ...fields };
      if (message === "request") calls.push(`${method} ${path} ${status}`);
    },
    error: (fields, message) => console.error(message, fields),
  };
}

const ONE_PIXEL_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
