import { chmodSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { runDoctor } from "../../src/commands/doctor-command.ts";
import { startChildServer } from "../kit/child-server.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";

type Settings = Readonly<Record<string, string>>;

interface Line {
  readonly part: string;
  readonly state: string;
  readonly text: string;
  readonly cure: string | null;
}

/** Runs the command on an empty data folder, in which no code runs, unless the settings say otherwise. */
async function doctor(settings: Settings, ...argv: readonly string[]) {
  const printed: string[] = [];
  const base = {
    DATA_DIR: temporaryFolder(),
    FIND_LOCAL_DAEMON: "false",
    CODE_ENGINE: "off",
    PORT: "0",
    STT_PORT: "0",
  };
  const output = { print: (text: string) => void printed.push(text), note: () => {}, isTerminal: false };
  const code = await runDoctor(argv, { ...base, ...settings }, output);
  return { code, printed: printed.join("\n") };
}

/** The lines about the machine by their parts, and the exit code. */
async function examined(settings: Settings) {
  const { code, printed } = await doctor(settings, "--json");
  const report: { machine: Line[] } = JSON.parse(printed);
  return { code, lines: new Map(report.machine.map((line) => [line.part, line])) };
}

/** Makes a folder the only one on PATH. It holds these programs. */
function onlyPrograms(...names: readonly string[]): string {
  const folder = temporaryFolder();
  for (const name of names) writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  vi.stubEnv("PATH", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

test("every part of the machine is told with its state", async () => {
  verifies("doctor.machine.each-part-has-a-state");
  const folder = onlyPrograms("espeak-ng", "ffmpeg");
  const { code, printed } = await doctor({ SPEECH_ENGINE: "none", WEB_SEARCH_PROVIDER: "mediawiki" });
  expect(code).toBe(0);
  expect(printed).toMatch(/^This machine\n {2}≈ reduced +models +the built-in engine .*To mend it: MODEL_BASE_URL=/);
  expect(printed).toMatch(/· off +speech to text +SPEECH_ENGINE is none. To mend it: SPEECH_ENGINE=whisper/);
  expect(printed).toContain(`by ${folder}/espeak-ng\n`);
  expect(printed).toContain(`by ${folder}/ffmpeg\n`);
  expect(printed).toMatch(/· off +code +CODE_ENGINE is off/);
  expect(printed).toMatch(/✓ works +web search/);
  expect(printed).toMatch(/≈ reduced +file search +.*To mend it: antiphon search setup/);
  expect(printed).toMatch(/works +disk +\d+\.\d GB free at /);
  expect(printed).toMatch(/(?:works|reduced) +memory +\d+\.\d GB free/);
  expect(printed).toMatch(/works +clock +20\d\d-/);
  expect(printed).toMatch(/works +keys +made at the first start/);
});

test("what is missing has the command that installs it", async () => {
  verifies("doctor.machine.each-part-has-a-state");
  onlyPrograms("apt-get");
  const cache = temporaryFolder();
  const { lines } = await examined({ WHISPER_CACHE_DIR: cache, CODE_ENGINE: "bubblewrap" });
  const cures = ["spoken answers", "mp3 and m4a", "speech to text"].map((part) => lines.get(part)?.cure);
  const install = `${process.getuid?.() === 0 ? "" : "sudo "}apt-get install -y`;
  expect(cures).toEqual([`${install} espeak-ng`, `${install} ffmpeg`, `${install} cmake make g++`]);
});

test("code is tried in the sandbox that a server would take", async () => {
  verifies("doctor.machine.each-part-has-a-state");
  const { lines } = await examined({ CODE_ENGINE: "pyodide" });
  expect(lines.get("code")).toMatchObject({
    state: "works",
    text: expect.stringMatching(/^Pyodide in .*, Python 3\.\d+$/),
  });
  expect(lines.get("Python packages")).toMatchObject({ state: "reduced", cure: "antiphon code setup --pyodide" });
});

test("a port of another program fails, and one of an Antiphon does not", async () => {
  verifies("doctor.machine.each-part-has-a-state");
  const other = await serveHttp((_request, response) => void response.end("Hi"));
  const port = new URL(other.url).port;
  const taken = await examined({ PORT: port });
  expect([taken.code, taken.lines.get("port of the API")]).toMatchObject([
    1,
    { state: "fails", text: `another program has ${port} of 127.0.0.1`, cure: expect.stringMatching(/^PORT=\d+$/) },
  ]);
  const server = await startChildServer();
  const served = await examined({ PORT: new URL(server.url).port });
  expect([served.code, served.lines.get("port of the API")]).toMatchObject([0, { state: "works" }]);
});

test("a clock that was set back, and one that differs from the model server's, are told", async () => {
  verifies("doctor.machine.each-part-has-a-state");
  const folder = temporaryFolder();
  writeFileSync(join(folder, "antiphon.db"), "");
  const tomorrow = Date.now() / 1000 + 86_400;
  utimesSync(join(folder, "antiphon.db"), tomorrow, tomorrow);
  const back = await examined({ DATA_DIR: folder });
  expect([back.code, back.lines.get("clock")]).toMatchObject([
    1,
    { state: "fails", cure: "sudo timedatectl set-ntp true" },
  ]);
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(404, { date: new Date(Date.now() + 3_600_000).toUTCString() }).end();
  });
  const { lines } = await examined({ MODEL_BASE_URL: `${url}/v1` });
  expect(lines.get("clock")).toMatchObject({
    state: "reduced",
    text: expect.stringMatching(/^3(?:599|600) s from that of/),
  });
});

test("a key that others can read is told, with the command that hides it", async () => {
  verifies("doctor.machine.each-part-has-a-state");
  const folder = temporaryFolder();
  const file = join(folder, "api-key");
  writeFileSync(file, "sk-antiphon-hidden\n");
  chmodSync(file, 0o644);
  expect((await examined({ DATA_DIR: folder })).lines.get("keys")).toMatchObject({
    state: "reduced",
    cure: `chmod 600 ${file}`,
  });
  chmodSync(file, 0o600);
  expect((await examined({ DATA_DIR: folder })).lines.get("keys")).toMatchObject({ state: "works" });
});

test("the bundle has the machine and the settings, and no secret of any of them", async () => {
  verifies("doctor.bundle.no-secrets");
  const path = join(temporaryFolder(), "bundle.json");
  const secrets = {
    MODEL_API_KEY: "model-key-of-the-bundle",
    API_KEYS: "sk-first-of-the-bundle=acme/web,sk-second-of-the-bundle",
    VOICE_API_KEY: 'voice"key-of-the-bundle',
    SEAL_KEYS: "ab".repeat(32),
  };
  const { url } = await serveHttp((request, response) => {
    const message = `Incorrect API key: ${request.headers.authorization}, not sk-another-key-of-theirs-123`;
    response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error: { message } }));
  });
  const address = url.replace("http://", "http://someone:pass-of-the-bundle@");
  const addresses = { MODEL_BASE_URL: `${url}/v1`, VOICE_BASE_URL: `${address}/v1?token=query-of-the-bundle` };
  await doctor({ ...secrets, ...addresses, LOG_LEVEL: "debug" }, "--bundle", path, "--model", "m");
  const text = readFileSync(path, "utf8");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(text)).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    node: { node: process.versions.node },
    settings: { MODEL_API_KEY: "[secret]", API_KEYS: ["[secret]", "[secret]"], LOG_LEVEL: "debug" },
    machine: expect.arrayContaining([expect.objectContaining({ part: "keys", state: "works" })]),
    servers: [expect.objectContaining({ server: `${url}/v1` })],
  });
  expect(text).not.toMatch(/of-the-bundle|abababab|another-key/);
});

test("the bundle replaces no file, and needs no address", async () => {
  const path = join(temporaryFolder(), "bundle.json");
  writeFileSync(path, "ours");
  expect((await doctor({}, "--bundle", path)).code).toBe(2);
  expect((await doctor({}, "http://127.0.0.1:1/v1", "--bundle", `${path}2`)).code).toBe(2);
  expect(readFileSync(path, "utf8")).toBe("ours");
});
