import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { onTestFinished, vi } from "vitest";
import { z } from "zod";
import { type CodeBlock, outputPattern } from "./code-blocks.ts";

export const ROOT = resolve(import.meta.dirname, "../..");
/** Has the Python clients, where they are installed. */
export const PYTHON = join(ROOT, ".cache/python-clients/bin/python");

/** What a clone does not have. */
const NOT_CLONED: ReadonlySet<string> = new Set([".env", ".git", "build", "data"]);
const START = /^((?:[A-Z_]+=\S+ )*)make start$/;
/** As printed, but nothing is installed or built. */
const MAKE = "make -o node_modules/.package-lock.json -o dist/chat-lab/index.html start";
const BLOCK_MS_MAX = 60_000;

/** Defined in the shell of each page, so that a refused request or a tool left out fails its block. */
const CURL = `curl() {
  local code=0
  command curl --fail-with-body --no-progress-meter --dump-header .headers "$@" || code=$?
  if grep -qi '^x-antiphon-omitted-tools' .headers; then cat .headers >&2; return 90; fi
  return $code
}
`;

export interface ReaderOptions {
  /** Settings of the server. */
  readonly env?: Readonly<Record<string, string>>;
  /** What a page says, and what takes its place here: addresses of other servers. */
  readonly instead?: Readonly<Record<string, string>>;
}

/**
 * Does what a page says, block by block, in a folder that looks like a new clone. All shell blocks share one shell. The
 * server listens on free ports, which take the place of the usual ones in the text.
 */
export class Reader {
  readonly #folder: string;
  readonly #options: ReaderOptions;
  readonly #shell: ChildProcessWithoutNullStreams;
  #server: ChildProcessWithoutNullStreams | null = null;
  #instead: Readonly<Record<string, string>>;
  #said = "";
  #count = 0;

  private constructor(folder: string, options: ReaderOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#instead = options.instead ?? {};
    this.#shell = spawn("bash", ["--norc", "-euo", "pipefail"], { cwd: folder, env: environment() });
    onTestFinished(async () => {
      this.#shell.kill("SIGKILL");
      await this.#stopServer();
      await rm(folder, { recursive: true, force: true });
    });
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream.setEncoding("utf8").on("data", (text) => (this.#said += String(text)));
  }

  static async open(options: ReaderOptions = {}): Promise<Reader> {
    const folder = await mkdtemp(join(tmpdir(), "antiphon-reader-"));
    for (const name of await readdir(ROOT)) {
      if (!NOT_CLONED.has(name)) await symlink(join(ROOT, name), join(folder, name));
    }
    return new Reader(folder, options);
  }

  /** Starts the server, and sets the variables that the quickstart tells to set. */
  async prepare(): Promise<void> {
    await this.#start("");
    await this.#inShell("export ANTIPHON_API_KEY=$(cat data/api-key) OPENAI_API_KEY=$(cat data/api-key)");
  }

  /** Runs a block and resolves to its output; an exit code other than 0 is an error. */
  async run({ code, language, place }: CodeBlock): Promise<string> {
    const [, settings] = START.exec(code.trim()) ?? [];
    if (language === "sh" && settings !== undefined) return this.#start(this.#here(settings));
    if (/^[^#\n]*make start$/m.test(code)) throw new Error(`${place}: a block with make start has nothing else in it`);
    const here = this.#here(code);
    if (language === "sh") return this.#inShell(here);
    const file = `block-${++this.#count}.${language === "python" ? "py" : language}`;
    await writeFile(join(this.#folder, file), here);
    return this.#inShell(`${language === "python" ? "python" : "node"} ${file}`);
  }

  async write(name: string, code: string): Promise<void> {
    await writeFile(join(this.#folder, name), this.#here(code));
  }

  /** What matches the output that the page tells. */
  expected(output: string): RegExp {
    return outputPattern(this.#here(output));
  }

  #here(text: string): string {
    return Object.entries(this.#instead).reduce((all, [usual, ours]) => all.replaceAll(usual, ours), text);
  }

  async #inShell(code: string): Promise<string> {
    const file = `.block-${++this.#count}.sh`;
    const mark = `end of ${file}`;
    await writeFile(join(this.#folder, file), CURL + code);
    this.#said = "";
    this.#shell.stdin.write(`. ./${file} </dev/null\nprintf '%s\\n' '${mark}'\n`);
    const isOver = (): boolean => this.#said.includes(mark) || this.#shell.exitCode !== null;
    await vi.waitUntil(isOver, BLOCK_MS_MAX);
    if (!this.#said.includes(mark))
      throw new Error(`the block failed (exit code ${this.#shell.exitCode}):\n${code}\n${this.#said}`);
    const said = this.#said.replace(`${mark}\n`, "");
    if (/"object":"response".*"status":"(failed|incomplete)"/.test(said)) throw new Error(`${code}\n${said}`);
    return said;
  }

  /** Resolves to the start banner. A server that runs already is stopped before. */
  async #start(settings: string): Promise<string> {
    await this.#stopServer();
    const child = spawn("bash", ["--norc", "-c", `${settings}${MAKE}`], {
      cwd: this.#folder,
      detached: true, // A group of its own, so that a signal reaches the server behind make.
      env: {
        ...environment(),
        PORT: "0",
        STT_PORT: "0",
        FIND_LOCAL_DAEMON: "false",
        SPEECH_ENGINE: "none",
        DRAIN_MS: "500",
        LOG_LEVEL: "fatal",
        ...this.#options.env,
      },
    });
    this.#server = child;
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (said += String(text)));
    child.stdout.setEncoding("utf8").on("data", (text) => (said += String(text)));
    const addresses = (): readonly string[] => /Responses API\s+(\S+)\/v1[^]*Speech to text\s+(\S+)/.exec(said) ?? [];
    const isUp = (): boolean => existsSync(join(this.#folder, "data/api-key")) && addresses().length > 0;
    await vi.waitUntil(() => isUp() || child.exitCode !== null, BLOCK_MS_MAX);
    const [, responses, speech] = addresses();
    if (responses === undefined || speech === undefined) throw new Error(`the server did not start:\n${said}`);
    if (this.#options.env?.["SPEECH_ENGINE"] !== undefined) await untilItHears(speech);
    this.#instead = { ...this.#options.instead, "http://127.0.0.1:8080": responses, "http://127.0.0.1:8237": speech };
    return said;
  }

  async #stopServer(): Promise<void> {
    const child = this.#server;
    this.#server = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, "close");
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await closed;
  }
}

async function untilItHears(speech: string): Promise<void> {
  const Health = z.object({ speech: z.object({ state: z.string() }) });
  const state = async (): Promise<string> => Health.parse(await (await fetch(`${speech}/healthz`)).json()).speech.state;
  await vi.waitUntil(async () => (await state()) === "demo", BLOCK_MS_MAX);
}

function environment(): NodeJS.ProcessEnv {
  const path = [join(PYTHON, ".."), join(ROOT, "node_modules/.bin"), process.env["PATH"] ?? ""];
  return { PATH: path.join(delimiter), HOME: process.env["HOME"] };
}
