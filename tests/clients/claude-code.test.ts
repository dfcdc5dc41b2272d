import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { COUNTS, chunks, serveBehind } from "../responses/behind-upstream.ts";
import { DEAD_PROXY } from "./dead-proxy.ts";
import { startToolServers } from "./tool-servers.ts";

/** The folder of a package of its own, as for Codex: one program of 400 MB, published for Linux on x64. */
const PROGRAM = join(import.meta.dirname, "claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude");
const VERSION = "2.1.332";
const TIMEOUT_MS = 60_000;
const MODEL = "claude-test";

const SCENARIO = `
models: [${MODEL}]
scenarios:
  - when: { input_contains: "Perform a web search for the query: where hawks hunt" }
    events: [{ text: They hunt at night.【web:1】 }]
  - when: { input_contains: hawks, tool_outputs: 0 }
    events: [{ call: { name: WebSearch, arguments: { query: where hawks hunt } } }]
  - when: { input_contains: hawks }
    events: [{ text: I know now. }]
  - when: { input_contains: three steps, tool_outputs: 0 }
    events:
      - reasoning: A file first.
      - text: I will write a file.
      - call: { name: Bash, arguments: { command: "echo one > steps.txt", description: Writes a file } }
  - when: { input_contains: three steps, tool_outputs: 1 }
    events: [{ call: { name: Read, arguments: { file_path: FOLDER/steps.txt } } }]
  - when: { input_contains: three steps, tool_outputs: 2 }
    events: [{ call: { name: Edit, arguments: { file_path: FOLDER/steps.txt, old_string: one, new_string: two } } }]
  - when: { input_contains: three steps, tool_outputs: 3 }
    events: [{ text: The file is right. }]
  - when: { input_contains: create a detailed summary }
    events: [{ text: "<summary>They met.</summary>" }]
  - when: { input_contains: They met. }
    events: [{ text: We met. }]
  - when: { input_contains: remember }
    events: [{ text: I will. }]
`;

const others = await startToolServers();
const folder = temporaryFolder(afterAll);
const server = await startTestServer({ env: others.env, scenario: SCENARIO.replaceAll("FOLDER", folder) });
afterAll(() => server.close());

const Result = z.looseObject({
  is_error: z.boolean(),
  result: z.string(),
  num_turns: z.number(),
  session_id: z.string(),
  usage: z.looseObject({ input_tokens: z.number(), output_tokens: z.number() }),
});

/** Does one task without a terminal, in a folder, and returns how it ended. */
async function run(at: Pick<TestServer, "url" | "apiKey">, task: string, ...more: readonly string[]) {
  const home = join(folder, "home");
  await mkdir(home, { recursive: true });
  const tools = ["Bash", "Read", "Edit", "WebSearch"];
  const { stdout } = await promisify(execFile)(
    PROGRAM,
    ["-p", task, "--model", MODEL, "--output-format", "json", "--allowedTools", tools.join(","), ...more],
    {
      cwd: folder,
      timeout: TIMEOUT_MS,
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        ANTHROPIC_BASE_URL: at.url,
        ANTHROPIC_API_KEY: at.apiKey,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ...DEAD_PROXY,
      },
    },
  );
  return Result.parse(JSON.parse(stdout.slice(stdout.indexOf('{"'))));
}

describe.skipIf(!existsSync(PROGRAM))(`Claude Code ${VERSION}`, { timeout: TIMEOUT_MS }, () => {
  test("runs commands, reads and edits over several turns", async () => {
    const done = await run(server, "Take three steps.");
    expect(done).toMatchObject({ is_error: false, result: "The file is right.", num_turns: 4 });
    expect(done.usage.input_tokens).toBeGreaterThan(1_000);
    expect(await readFile(join(folder, "steps.txt"), "utf8")).toBe("two\n");
  });

  test("searches the web by this server's search, for the words that it asks for", async () => {
    expect(await run(server, "Find out about hawks.")).toMatchObject({ is_error: false, result: "I know now." });
    expect(others.searched).toEqual(["where hawks hunt"]);
  });

  test("goes on after a stream that broke off", async () => {
    let calls = 0;
    const behind = await serveBehind(
      (response, call) => {
        calls += 1;
        if (calls > 1) return chunks(textChunk("All is well."), lastChunk("stop"), COUNTS)(response, call);
        response.writeHead(200, { "content-type": "text/event-stream" });
        return response.end(sse(textChunk("All is"), { error: { message: "Broken.", type: "server_error" } }));
      },
      { MODEL_RETRIES: "0", MODEL_CONTEXT_WINDOW: "100000" },
    );
    expect(await run(behind.server, "Say how it is.")).toMatchObject({ is_error: false, result: "All is well." });
  });

  test("goes on in a session, and compacts it", async () => {
    const { session_id: id } = await run(server, "Please remember me.");
    expect(await run(server, "/compact", "--resume", id)).toMatchObject({ is_error: false });
    const after = await run(server, "Do you remember?", "--resume", id);
    expect(after).toMatchObject({ is_error: false, result: "We met." });
  });
});
