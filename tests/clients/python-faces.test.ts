import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { DEAD_PROXY } from "./dead-proxy.ts";
import { startToolServers, toolScenarios } from "./tool-servers.ts";

const FOLDER = join(import.meta.dirname, "python");
/** What `make test-setup` installs where there is a python3 with venv. Without it the tests are skipped. */
const PYTHON = resolve(import.meta.dirname, "../../.cache/python-clients/bin/python");
/** What `make clients` installs beside them. */
const DOORS = resolve(import.meta.dirname, "../../.cache/python-doors/bin");
const REQUIREMENTS = ["requirements.txt", "doors-requirements.txt"]
  .map((file) => readFileSync(join(FOLDER, file), "utf8"))
  .join("\n");
const TIMEOUT_MS = 60_000;

const SCENARIOS = `
  - when: { input_contains: weather, tool_outputs: 0 }
    events:
      - { text: "I look." }
      - { call: { name: get_weather, arguments: { city: Paris }, chunks: 3 } }
      - { call: { name: get_weather, arguments: { city: Rome }, chunks: 3 } }
  - when: { input_contains: weather }
    events: [{ text: Warm in both. }]
  - when: { input_contains: a place }
    events: [{ text: '{"city":"Paris"}' }]
`;

const others = await startToolServers();
const server = await startTestServer({
  env: others.env,
  scenario: toolScenarios(others).replace("scenarios:\n", `scenarios:${SCENARIOS}`),
});
afterAll(() => server.close());

/** Runs one of the programs for one thing, and returns what came of it. */
async function run(program: string, way: string, python = PYTHON): Promise<unknown> {
  const child = spawn(python, ["-u", join(FOLDER, program)], {
    env: {
      PATH: process.env["PATH"],
      OPENAI_BASE_URL: `${server.url}/v1`,
      OPENAI_API_KEY: server.apiKey,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: server.apiKey,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  child.stdin.end(`${JSON.stringify({ way })}\n`);
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(line);
  await closed;
  return JSON.parse(lines[0] ?? '"the program ended"');
}

function version(name: string): string {
  return new RegExp(`^${name}==(.+)$`, "m").exec(REQUIREMENTS)?.[1] ?? "";
}

const CALLED = { text: "I look.", calls: [{ city: "Paris" }, { city: "Rome" }] };

describe.skipIf(!existsSync(PYTHON))(`anthropic (Python) ${version("anthropic")}`, { timeout: TIMEOUT_MS }, () => {
  test("the stream helper gives what create() gives", async () => {
    verifies("messages.stream.folds-to-body");
    const message = { ...CALLED, types: ["text", "tool_use", "tool_use"], reason: "tool_use" };
    expect(await run("anthropic_client.py", "stream")).toMatchObject({ streamed: message, plain: message });
  });

  test("the tool runner makes both calls and goes on", async () => {
    verifies("messages.tools.runner");
    expect(await run("anthropic_client.py", "runner")).toMatchObject({
      text: "Warm in both.",
      cities: ["Paris", "Rome"],
      reason: "end_turn",
    });
  });

  test("a web search is shown with its results", async () => {
    verifies("messages.tools.server-tools");
    expect(await run("anthropic_client.py", "search")).toMatchObject({
      types: ["server_tool_use", "web_search_tool_result", "text"],
      text: expect.stringContaining("They wait."),
    });
  });

  test("the tokens of a request are counted", async () => {
    verifies("messages.tokens.count");
    expect(await run("anthropic_client.py", "count")).toBeGreaterThan(0);
  });
});

describe.skipIf(!existsSync(PYTHON))(
  `openai (Python) ${version("openai")}, chat completions`,
  { timeout: TIMEOUT_MS },
  () => {
    test("the stream helper gives what create() gives", async () => {
      verifies("chat.stream.folds-to-body");
      const completion = { ...CALLED, reason: "tool_calls" };
      expect(await run("chat_client.py", "stream")).toMatchObject({ streamed: completion, plain: completion });
    });

    test("parse() reads an answer with a schema", async () => {
      verifies("chat.create.answers");
      expect(await run("chat_client.py", "parse")).toBe("Paris");
    });
  },
);

describe.skipIf(!existsSync(DOORS)).each([
  ["openai", "langchain-openai", "chat.stream.folds-to-body"],
  ["anthropic", "langchain-anthropic", "messages.stream.folds-to-body"],
])("LangChain (Python) with %s", { timeout: TIMEOUT_MS }, (provider, name, requirement) => {
  test(`${name} ${version(name)} adds up to two calls, and their outputs are taken`, async () => {
    verifies(requirement);
    expect(await run("langchain_client.py", provider, join(DOORS, "python"))).toEqual({
      said: CALLED.text,
      calls: CALLED.calls,
      answer: "Warm in both.",
      counted: true,
    });
  });
});

describe.skipIf(!existsSync(DOORS))(`llm ${version("llm")}`, { timeout: TIMEOUT_MS }, () => {
  test("answers a prompt, streamed or not", async () => {
    const folder = temporaryFolder();
    const model = `- model_id: mine\n  model_name: gpt-5-mini\n  api_base: ${server.url}/v1\n  api_key_name: mine\n`;
    await writeFile(join(folder, "extra-openai-models.yaml"), model);
    await writeFile(join(folder, "keys.json"), JSON.stringify({ mine: server.apiKey }));
    const env = { PATH: process.env["PATH"], LLM_USER_PATH: folder, ...DEAD_PROXY };
    for (const more of [[], ["--no-stream"]]) {
      const running = promisify(execFile)(join(DOORS, "llm"), ["-m", "mine", "a place", ...more], { env });
      running.child.stdin?.end(); // It reads more of its prompt from there.
      const { stdout } = await running;
      expect(stdout.trim()).toBe('{"city":"Paris"}');
    }
  });
});
