import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startChildServer } from "./kit/child-server.ts";
import { temporaryFolder } from "./kit/temporary-folder.ts";
import { verifies } from "./verifies.ts";

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Runs the command in a new folder until it ends by itself. */
async function run(env: Readonly<Record<string, string>>, ...flags: string[]): Promise<Outcome> {
  return runIn(temporaryFolder(), env, ...flags);
}

async function runIn(cwd: string, env: Readonly<Record<string, string>>, ...flags: string[]): Promise<Outcome> {
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

test.each(["--help", "help", "-h"])("%s shows the commands first, and each of those explains itself", async (word) => {
  verifies("config.table.help-lists-everything");
  const { code, output } = await run({}, word);
  expect(code).toBe(0);
  expect(output).toMatch(/^Usage: antiphon[\s\S]*Commands\n {2}serve .*\n {2}keys [\s\S]*MODEL_BASE_URL/);
});

test.each([
  "migrate",
  "rotate-seal-key",
  "stt-cloud",
  "keys",
  "runs",
  "mcp",
  "doctor",
  "backup",
  "restore",
  "lint-stream",
])("%s --help explains the command, and does nothing", async (command) => {
  const { code, output } = await run({ DATA_DIR: "made" }, command, "--help");
  expect(code).toBe(0);
  expect(output).toMatch(/^Usage: antiphon /);
  expect(output).toContain(`antiphon ${command}`);
  expect(output).not.toMatch(/up to date\.\n$|Added a key/);
});

test.each([
  [["keys", "make"], "'make' is none of create, list, revoke.", "Usage: antiphon keys"],
  [["keys", "list", "--colour"], "Unknown option '--colour'.", "Usage: antiphon keys"],
  [["backup"], "backup needs one folder.", "Usage: antiphon backup"],
  [["runs", "list", "--colour"], "Unknown option '--colour'.", "Usage: antiphon runs"],
  [["doctor", "--colour"], "Unknown option '--colour'.", "Usage: antiphon doctor"],
])("%j is answered by what is wrong, and the usage", async (argv, problem, usage) => {
  verifies("config.flags.wrong-ones-are-named");
  const { code, output } = await run({}, ...argv);
  expect(code).toBe(2);
  expect(output.startsWith(`${problem}\n\n${usage}`)).toBe(true);
});

test("--version tells the version alone", async () => {
  const { code, output } = await run({}, "--version");
  expect([code, output]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

test("serve is what happens without a command", async () => {
  const { code, output } = await run({}, "serve", "--prot", "1");
  expect([code, output]).toEqual([
    2,
    "The configuration cannot be used:\n  --prot is not a setting. Did you mean --port?\n",
  ]);
});

test("bad settings stop the start with one message that names all of them, without a stack", async () => {
  verifies("config.table.bad-value-stops-start");
  const { code, output } = await run({ PORT: "99999999", MODEL_BASE_URL: "not a url", MODEL_API_KEY: "sk-secret" });
  expect(code).toBe(2);
  expect(output).toMatch(/PORT .*\n.*MODEL_BASE_URL /);
  expect(output).not.toMatch(/sk-secret|\n +at /);
});

test("a name in .env that is not a setting stops the start, with the other mistakes", async () => {
  verifies("config.env-file.wrong-names-are-named");
  const cwd = temporaryFolder();
  await writeFile(join(cwd, ".env"), "MODEL_BASEURL=http://127.0.0.1:11434/v1\n");
  const { code, output } = await runIn(cwd, { RUNS_MAX: "many" });
  expect(code).toBe(2);
  expect(output).toMatch(
    /RUNS_MAX is 'many'.*\n {2}MODEL_BASEURL in \.env is not a setting\. Did you mean MODEL_BASE_URL\?/,
  );
});

test("a variable that is almost named as a setting is warned of, without its value", async () => {
  verifies("config.environment.near-misses-are-named");
  const { output } = await run({ MODEL_BASEURL: "http://hush@127.0.0.1", SCENARIO_FILE: "nowhere.yaml" });
  expect(output.split("ignoring MODEL_BASEURL: it is not a setting. Did you mean MODEL_BASE_URL?")).toHaveLength(2);
  expect(output).not.toContain("hush");
});

test("a port that is in use is reported in one sentence", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { code, output } = await run({ PORT: String(port) });
  expect(code).toBe(1);
  expect(output).toContain(`address already in use 127.0.0.1:${port}. HOST, PORT and STT_PORT select other addresses.`);
  expect(output).not.toMatch(/\n +at /);
});

test("a data folder that cannot be made is reported in one sentence", async () => {
  const file = join(temporaryFolder(), "file");
  await writeFile(file, "");
  const { code, output } = await run({ DATA_DIR: join(file, "data") });
  expect(code).toBe(1);
  expect(output).toBe(
    `Cannot use ${join(file, "data")}: not a directory. DATA_DIR (--data-dir) and DATABASE_FILE select other places.\n`,
  );
});

test.each([
  ["file", (folder: string) => `${join(folder, "file")}: it is a file, not a folder.`],
  ["/proc/antiphon/data", () => "/proc/antiphon: no folder can be made in /proc."],
])("the data folder %s is refused in one sentence", async (dataDir, complaint) => {
  verifies("config.start.unusable-folder-is-named");
  const cwd = temporaryFolder();
  await writeFile(join(cwd, "file"), "");
  const { code, output } = await runIn(cwd, { DATA_DIR: dataDir });
  const advice = "DATA_DIR (--data-dir) and DATABASE_FILE select other places.";
  expect([code, output]).toEqual([1, `Cannot use ${complaint(cwd)} ${advice}\n`]);
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
  verifies("config.start.banner-says-what-next");
  expect(server.said()).toContain(`Inspector          ${server.url}/inspector\n`);
  expect(server.said()).toMatch(/Chat lab {11}http:\/\/127\.0\.0\.1:\d+\/demo\n[^]*API key {12}one of API_KEYS\n/);
  const reply = await server.post("/v1/responses", { model: "m", input: "Hi" });
  expect(JSON.stringify(await reply.json())).toContain("From the scenario");
});

test("features that the machine reduces are told, each with what mends it", async () => {
  verifies("config.start.reduced-features-are-told");
  const bin = temporaryFolder();
  await writeFile(join(bin, "apt-get"), "#!/bin/sh\n", { mode: 0o755 });
  const engine = { SPEECH_ENGINE: "whisper", WHISPER_CACHE_DIR: join(bin, "cache"), WHISPER_DOWNLOAD: "false" };
  const server = await startChildServer({ env: { PATH: bin, ...engine, WEB_SEARCH_PROVIDER: "none" } });
  const install = `To mend it: ${process.getuid?.() === 0 ? "" : "sudo "}apt-get install -y`;
  const reduced = (text: string): RegExp => new RegExp(`^Reduced {12}${text}$`, "m");
  await expect.poll(() => server.said()).toMatch(reduced(`mp3 and m4a: without ffmpeg, .*[.] ${install} ffmpeg`));
  expect(server.said()).toMatch(reduced(`spoken answers: nothing is spoken without espeak-ng[.] ${install} espeak-ng`));
  expect(server.said()).toMatch(
    reduced(`speech to text: .* cmake and a C[+]{2} compiler.*[.] ${install} cmake make g[+]{2}`),
  );
  expect(server.said()).not.toMatch(/Reduced +(?:web search|code|file search)/); // Switched off, or told above.
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
