import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { startChildServer } from "../kit/child-server.ts";
import { isAlive } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startLocalSttServer } from "../local-stt-server.ts";
import { runAsNobody } from "../run-as-nobody.ts";
import { verifies } from "../verifies.ts";
import { tones } from "./tones.ts";
import { enginePids, hear, startToneEngine, toneModelFile, whisperForTests } from "./whisper-for-tests.ts";

const program = await whisperForTests();
const ROOT = join(import.meta.dirname, "../..");

async function commandLine(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
}

function valueOf(flag: string, words: readonly string[]): string {
  return words[words.indexOf(flag) + 1] ?? "";
}

const asksHealth = (socketPath: string): string => `
  require("node:http").get({ socketPath: ${JSON.stringify(socketPath)}, path: "/health", agent: false }, (reply) => { console.log(reply.statusCode); reply.destroy(); })
    .on("error", (error) => console.log(error.code));
`;

/** Inodes of the TCP sockets that a process listens on. */
async function listeningPorts(pid: number): Promise<string[]> {
  const LISTENING = "0A";
  const tables = await Promise.all(["tcp", "tcp6"].map((table) => readFile(`/proc/${pid}/net/${table}`, "utf8")));
  const rows = tables.flatMap((table) => table.split("\n").slice(1)).map((row) => row.trim().split(/\s+/));
  const inodes = new Set(rows.filter(([, , , state]) => state === LISTENING).map((row) => `socket:[${row[9]}]`));
  const open = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(open.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")));
  return targets.filter((target) => inodes.has(target));
}

describe.skipIf(program === null)("the engine's process", () => {
  test("answers request after request with the model loaded once", async () => {
    verifies("stt.engine.stays-loaded");
    const engine = await startToneEngine(program ?? "");
    const before = await enginePids();
    for (let count = 0; count < 50; count += 1) expect((await hear(engine, tones("four"))).text).toBe("four");
    expect(await enginePids()).toEqual(before);
    expect(before).toHaveLength(1);
  });

  test("can be reached by its own user only, and gets no secrets of ours", async () => {
    verifies("stt.engine.hidden-from-others");
    const engine = await startToneEngine(program ?? "");
    const [pid = 0] = await enginePids();
    const socket = valueOf("--host", await commandLine(pid));
    expect((await stat(dirname(socket))).mode & 0o777).toBe(0o700);
    expect((await promisify(execFile)(process.execPath, ["-e", asksHealth(socket)])).stdout.trim()).toBe("200");
    if (process.getuid?.() === 0) expect((await runAsNobody(asksHealth(socket))).trim()).toBe("EACCES");
    expect(await listeningPorts(pid)).toEqual([]);
    const environment = (await readFile(`/proc/${pid}/environ`, "utf8"))
      .split("\0")
      .map((entry) => entry.split("=")[0]);
    expect(environment).not.toContain("PATH");
    expect(environment).toContain("GGML_NO_BACKTRACE");
    expect(await readFile(`/proc/${pid}/limits`, "utf8")).toMatch(/^Max core file size +0 +0 /m);
    expect((await hear(engine, tones("one"))).text).toBe("one");
    await engine.close();
    await expect(stat(dirname(socket))).rejects.toThrow("ENOENT");
  });

  test("without a Unix socket answers only clients that know its secret path", async () => {
    verifies("stt.engine.hidden-from-others");
    const stock = join(temporaryFolder(), "whisper-server");
    await writeFile(stock, `#!/bin/sh\nunset ANTIPHON_ENGINE_ANNOUNCE\nexec "${program}" "$@"\n`, { mode: 0o755 });
    const engine = await startToneEngine(stock);
    const [pid = 0] = await enginePids();
    const words = await commandLine(pid);
    expect(valueOf("--host", words)).toBe("127.0.0.1");
    expect(valueOf("--request-path", words)).toMatch(/^\/[0-9a-f]{32}$/);
    const url = `http://127.0.0.1:${valueOf("--port", words)}`;
    const near = `${valueOf("--request-path", words)}0/health`;
    for (const path of ["/", "/health", "/inference", "/load", "//health", near]) {
      const replies = await Promise.all(["GET", "POST"].map((method) => fetch(`${url}${path}`, { method })));
      expect(replies.map(({ status }) => status)).toEqual([404, 404]);
    }
    expect((await hear(engine, tones("one"))).text).toBe("one");
  });

  test("does not outlive the server, even if that is killed", async () => {
    verifies("stt.engine.ends-with-the-server");
    const folder = temporaryFolder();
    const server = spawn(process.execPath, [join(ROOT, "src/main.ts")], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        DATA_DIR: folder,
        PORT: "0",
        STT_PORT: "0",
        FIND_LOCAL_DAEMON: "false",
        WHISPER_SERVER_PATH: program ?? "",
        WHISPER_MODEL_PATH: await toneModelFile(),
      },
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    const url = await sttUrl(server);
    await expect
      .poll(async () => (await fetch(`${url}/healthz`)).json(), { timeout: 10_000 })
      .toMatchObject({ ok: true });
    const engines = await enginePids(server.pid);
    expect(engines).toHaveLength(1);
    const sockets = await Promise.all(engines.map(async (pid) => valueOf("--host", await commandLine(pid))));
    server.kill("SIGKILL");
    await expect.poll(() => engines.map(isAlive), { timeout: 10_000 }).toEqual([false]);
    for (const socket of sockets) await expect(stat(dirname(socket))).rejects.toThrow("ENOENT");
  });
});

test.skipIf(program === null)(
  "while the engine is built, /healthz shows the progress; a server stopped meanwhile leaves nothing of it",
  async () => {
    verifies("stt.health.not-ok-while-loading");
    const folder = temporaryFolder();
    const server = await startLocalSttServer({
      env: { SPEECH_ENGINE: "whisper", WHISPER_CACHE_DIR: folder, WHISPER_MODEL_PATH: await toneModelFile() },
    });
    try {
      await expect
        .poll(async () => (await fetch(`${server.url}/healthz`)).json(), { timeout: 100_000, interval: 200 })
        .toMatchObject({
          ok: false,
          speech: {
            state: "building",
            detail: expect.stringMatching(/^The speech engine is being built, [1-9]\d* %\.$/),
          },
        });
    } finally {
      await server.close();
    }
    const [build = ""] = await readdir(join(folder, "engines"));
    expect(build).toMatch(/^whisper-server-/);
    expect(await readdir(join(folder, "engines", build))).toEqual([]);
  },
  120_000,
);

test.skipIf(program === null)("the tests use the engine that the server builds, and build it once", async () => {
  const folder = temporaryFolder();
  const build = join(folder, "antiphon/engines", basename(dirname(program ?? "")));
  await cp(dirname(program ?? ""), build, { recursive: true });
  const { code, output } = await runScript({ PATH: "/nowhere", XDG_CACHE_HOME: folder }, ["--path"]);
  expect({ code, output }).toEqual({ code: 0, output: `${join(build, "whisper-server")}\n` });
  expect(loadConfig({ XDG_CACHE_HOME: folder }, []).whisperCacheDir).toBe(join(folder, "antiphon"));
});

describe("a missing tool for building the engine", () => {
  const NEEDS = "The speech engine has to be built once, which needs cmake and a C\\+\\+ compiler and make or ninja";

  test("is reported in one sentence, and tests run without it", async () => {
    verifies("stt.engine.build-tells-what-is-missing");
    const { code, output } = await runScript({ PATH: "/nowhere", WHISPER_CACHE_DIR: temporaryFolder() });
    expect(code).toBe(0);
    expect(output).toMatch(
      new RegExp(
        `^Tests with the real speech engine are left out\\. ${NEEDS}: install what is missing, or set WHISPER_SERVER_PATH to a whisper-server\\.$`,
        "m",
      ),
    );
  });

  test("is reported at the start, with the command that installs it", async () => {
    verifies("stt.engine.build-tells-what-is-missing");
    const folder = temporaryFolder();
    await symlink("/bin/true", join(folder, "apt-get"));
    const server = await startChildServer({
      env: { PATH: folder, SPEECH_ENGINE: "whisper", WHISPER_CACHE_DIR: folder, WHISPER_DOWNLOAD: "false" },
    });
    const line = `Speech is unavailable: ${NEEDS}: run 'apt-get install cmake make g\\+\\+' and start again, or set WHISPER_SERVER_PATH to a whisper-server\\.`;
    await expect.poll(() => server.complaints(), { timeout: 20_000 }).toMatch(new RegExp(`^${line}$`, "m"));
    const text = { model: "antiphon-built-in", input: "Say hello" };
    expect((await server.post("/v1/responses", text)).status).toBe(200);
  });
});

function runScript(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const script = join(ROOT, "scripts/speech-engine.ts");
    const child = execFile(process.execPath, [script, ...args], { env, timeout: 15_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

async function sttUrl(server: ChildProcess): Promise<string> {
  let said = "";
  for (const stream of [server.stdout, server.stderr])
    stream?.setEncoding("utf8").on("data", (text) => (said += String(text)));
  for (;;) {
    const url = /Speech to text\s+(http:\S+)/.exec(said)?.[1];
    if (url !== undefined) return url;
    if (server.exitCode !== null) throw new Error(said);
    await sleep(50);
  }
}
