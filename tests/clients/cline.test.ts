import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { DEAD_PROXY } from "./dead-proxy.ts";
import { startToolServers, toolScenarios } from "./tool-servers.ts";

/** The folder of a package of its own, as for Codex: one program of 150 MB, published for Linux on x64. */
const PROGRAM = join(import.meta.dirname, "cline/node_modules/@cline/cli-linux-x64/bin/cline");
const VERSION = "3.0.65";
const TIMEOUT_MS = 60_000;

const COMMANDS = `
  - when: { input_contains: two steps, tool_outputs: 0 }
    events:
      - text: I will write a file.
      - call: { name: run_commands, arguments: { commands: ["echo one > steps.txt"] } }
  - when: { input_contains: two steps, tool_outputs: 1 }
    events: [{ text: The file is there. }]
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 400, type: invalid_request_error, code: null, message: The model broke off. }
`;

const others = await startToolServers();
const scenario = toolScenarios(others).replace("scenarios:\n", `scenarios:${COMMANDS}`);
const bare = await startTestServer({ scenario });
const equipped = await startTestServer({ env: others.env, scenario });
afterAll(() => Promise.all([bare.close(), equipped.close()]));

const Result = z.looseObject({ type: z.literal("run_result"), finishReason: z.string(), text: z.string() });

class Cline {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  static async open(server: TestServer, provider: Provider = "openai-native"): Promise<Cline> {
    const folder = temporaryFolder();
    await mkdir(join(folder, "work"));
    await mkdir(join(folder, "data/settings"), { recursive: true });
    await writeFile(join(folder, "data/settings/providers.json"), JSON.stringify(settingsFor(server, provider)));
    return new Cline(folder);
  }

  /** Does one task without a terminal, and returns how it ended and all that was printed until then. */
  async run(task: string) {
    const child = spawn(PROGRAM, ["--json", "--retries", "1", "--data-dir", join(this.folder, "data"), task], {
      cwd: join(this.folder, "work"),
      env: {
        PATH: process.env["PATH"],
        HOME: this.folder,
        ...DEAD_PROXY,
      },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: TIMEOUT_MS,
    });
    const closed = once(child, "close");
    const printed: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      printed.push(line);
      if (line.includes('"type":"run_result"')) break;
    }
    child.kill("SIGKILL"); // It is done, but would try for ten seconds to tell its vendor.
    await closed;
    return { ...Result.parse(JSON.parse(printed.at(-1) ?? "")), printed: printed.join("\n") };
  }
}

/** The first speaks responses, the second chat completions. */
type Provider = "openai-native" | "openai-compatible";

/** What `cline auth` writes. */
function settingsFor({ url, apiKey }: TestServer, provider: Provider) {
  const settings = { provider, apiKey, model: "gpt-5-mini", baseUrl: `${url}/v1` };
  const entry = { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" };
  return { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: entry } };
}

describe.skipIf(!existsSync(PROGRAM))(`cline ${VERSION}`, { timeout: TIMEOUT_MS }, () => {
  test("works where the server can neither search nor draw, though it offers both", async () => {
    const cline = await Cline.open(bare);
    const run = await cline.run("Take two steps.");
    expect(run).toMatchObject({ finishReason: "completed", text: "The file is there." });
    expect(await readFile(join(cline.folder, "work/steps.txt"), "utf8")).toBe("one\n");
  });

  test("works as a compatible provider, by chat completions", async () => {
    const cline = await Cline.open(bare, "openai-compatible");
    const run = await cline.run("Take two steps.");
    expect(run).toMatchObject({ finishReason: "completed", text: "The file is there." });
    expect(await readFile(join(cline.folder, "work/steps.txt"), "utf8")).toBe("one\n");
    const metrics = await (await fetch(`${bare.url}/metrics`)).text();
    expect(metrics).toMatch(/antiphon_runs_by_face_total\{face="chat"\} [1-9]/);
  });

  test("searches the web", async () => {
    const cline = await Cline.open(equipped);
    const run = await cline.run("Find herons in depth.");
    expect(run.finishReason).toBe("completed");
    expect(run.text).toContain("They wait.");
    expect(others.searched).toEqual(["herons water"]);
  });

  test("draws", async () => {
    const cline = await Cline.open(equipped);
    expect(await cline.run("Draw a boat.")).toMatchObject({ finishReason: "completed", text: "Here it is." });
  });

  test("shows the server's error", async () => {
    const cline = await Cline.open(bare);
    const run = await cline.run("This dies midway.");
    expect(run.finishReason).toBe("error");
    expect(run.printed).toContain("The model broke off.");
  });
});
