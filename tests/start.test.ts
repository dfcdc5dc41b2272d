import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startChildServer } from "./child-server.ts";
import { verifies } from "./verifies.ts";

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the command in a new folder until it ends by itself. */
async function run(env: Readonly<Record<string, string>>, ...flags: string[]): Promise<Outcome> {
  const cwd = await mkdtemp(join(tmpdir(), "antiphon-start-"));
  const main = join(import.meta.dirname, "../src/main.ts");
  return new Promise((resolve) => {
    const settings = {
      PATH: process.env["PATH"] ?? "",
      PORT: "0",
      STT_PORT: "0",
      SPEECH_ENGINE: "none",
      FIND_LOCAL_DAEMON: "false",
      ...env,
    };
    const child = execFile(
      process.execPath,
      [main, ...flags],
      { cwd, env: settings, timeout: 15_000 },
      (_error, out, err) => resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

test("--help lists every setting and starts nothing", async () => {
  verifies("config.table.help-lists-everything");
  const { code, output } = await run({}, "--help");
  expect(code).toBe(0);
  expect(output).toContain("MODEL_BASE_URL");
  expect(output).not.toContain("Responses API      http");
});

test("bad settings stop the start with one message that names all of them, without a stack", async () => {
  verifies("config.table.bad-value-stops-start");
  const { code, output } = await run({ PORT: "99999999", MODEL_BASE_URL: "not a url", MODEL_API_KEY: "sk-secret" });
  expect(code).toBe(2);
  expect(output).toMatch(/PORT .*\n.*MODEL_BASE_URL /);
  expect(output).not.toMatch(/sk-secret|\n +at /);
});

test("a port that is in use is reported in one sentence", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { code, output } = await run({ PORT: String(port) });
  expect(code).toBe(1);
  expect(output).toContain(`address already in use 127.0.0.1:${port}. HOST, PORT and STT_PORT choose other addresses.`);
  expect(output).not.toMatch(/\n +at /);
});

test("an unreadable scenario file stops the start with a message that names it", async () => {
  verifies("builtin-engine.scenario.bad-file-stops-start");
  const { code, output } = await run({ SCENARIO_FILE: "nowhere.yaml" });
  expect(code).toBe(1);
  expect(output).toContain("nowhere.yaml");
  expect(output).not.toMatch(/\n +at /);
});

test("a scenario file wins over a model server, and the banner says so", async () => {
  verifies("builtin-engine.scenario.wins-over-model-server");
  const server = await startChildServer({
    env: { MODEL_BASE_URL: "http://127.0.0.1:1/v1" },
    scenario: "models: [m]\nscenarios: [{ events: [{ text: From the scenario }] }]",
  });
  await expect
    .poll(() => server.said())
    .toMatch(/Answers come from .*playing .*scenario\.yaml\. MODEL_BASE_URL is not used/);
  const reply = await server.post("/v1/responses", { model: "m", input: "Hi" });
  expect(JSON.stringify(await reply.json())).toContain("From the scenario");
});

test("a server prints its address only when it listens", async () => {
  verifies("transport.drain.starts-fast");
  for (let start = 0; start < 3; start++) {
    const server = await startChildServer(); // Resolves as soon as the first address is printed.
    const addresses = (): string[] => server.said().match(/http:\/\/127\.0\.0\.1:\d+/g) ?? [];
    for (const address of new Set(addresses())) expect((await fetch(`${address}/healthz`)).status).toBe(200);
    expect(new Set(addresses()).size).toBe(2);
    await server.stop();
  }
});
