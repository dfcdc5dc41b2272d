import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { DEAD_PROXY } from "./dead-proxy.ts";

/** The folder of a package of its own, as for Codex: one program of 185 MB, published for Linux on x64. */
const PROGRAM = join(import.meta.dirname, "opencode/node_modules/opencode-linux-x64/bin/opencode");
const VERSION = "1.18.33";
const TIMEOUT_MS = 60_000;
const MODEL = "gpt-5-mini";

const server = await startTestServer({
  scenario: `
models: [${MODEL}]
scenarios:
  - when: { input_contains: two steps, tool_outputs: 0 }
    events:
      - reasoning: A file first.
      - text: I will write a file.
      - call: { name: bash, arguments: { command: "echo one > steps.txt", description: Writes a file } }
  - when: { input_contains: two steps, tool_outputs: 1 }
    events: [{ text: The file is there. }]
`,
});
afterAll(() => server.close());

/** What a user writes to use an address of his own. */
const SETTINGS = {
  autoupdate: false,
  share: "disabled",
  model: `antiphon/${MODEL}`,
  small_model: `antiphon/${MODEL}`,
  permission: { bash: "allow", edit: "allow" },
  provider: {
    antiphon: {
      npm: "@ai-sdk/openai-compatible",
      name: "Antiphon",
      options: { baseURL: `${server.url}/v1`, apiKey: server.apiKey },
      models: { [MODEL]: { name: MODEL } },
    },
  },
};

describe.skipIf(!existsSync(PROGRAM))(`OpenCode ${VERSION}`, { timeout: TIMEOUT_MS }, () => {
  test("runs a command and goes on, by chat completions", async () => {
    const folder = temporaryFolder();
    const work = join(folder, "work");
    await mkdir(work);
    await writeFile(join(work, "opencode.json"), JSON.stringify(SETTINGS));
    const running = promisify(execFile)(PROGRAM, ["run", "--format", "json", "Take two steps."], {
      cwd: work,
      timeout: TIMEOUT_MS,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        ...DEAD_PROXY,
      },
    });
    running.child.stdin?.end();
    const { stdout } = await running;
    expect(stdout).toContain('"text":"The file is there."');
    expect(await readFile(join(work, "steps.txt"), "utf8")).toBe("one\n");
  });
});
