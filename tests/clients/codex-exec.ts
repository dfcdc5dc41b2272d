import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import type { TestServer } from "../kit/test-server.ts";
import { DEAD_PROXY } from "./dead-proxy.ts";

/** The folder of a package of its own: Codex has 400 MB, too much to install for `make start`. */
export const CODEX_FOLDER = resolve(import.meta.dirname, "codex");

const PROGRAM = join(CODEX_FOLDER, "node_modules/.bin/codex");
const TIMEOUT_MS = 60_000;

/** Describes a model to Codex that it does not know by name. */
const MODEL_CATALOG = {
  models: [
    {
      slug: "antiphon-coder",
      display_name: "Antiphon",
      base_instructions: "You are a coding agent.",
      shell_type: "unified_exec",
      apply_patch_tool_type: "freeform",
      truncation_policy: { mode: "tokens", limit: 10_000 },
      context_window: 200_000,
      input_modalities: ["text", "image"],
      supported_reasoning_levels: [{ effort: "low", description: "A little" }],
      default_reasoning_level: "low",
      supports_parallel_tool_calls: true,
      support_verbosity: false,
      visibility: "list",
      supported_in_api: true,
      priority: 0,
      experimental_supported_tools: [],
    },
  ],
};

const Line = z.looseObject({
  type: z.string(),
  item: z.looseObject({ type: z.string(), text: z.string().optional() }).optional(),
});

export interface CodexRun {
  readonly exitCode: number | null;
  /** The output with `--json`. */
  readonly lines: readonly z.infer<typeof Line>[];
  readonly lastMessage: string;
  readonly stderr: string;
}

export interface CodexOptions {
  readonly model?: string;
  /** Further lines of config.toml, before its tables. */
  readonly config?: string;
  /** Further tables of config.toml. */
  readonly tables?: string;
  /**
   * `own` is a provider of the configuration, `websocket` the same with WebSocket support. `built-in` is Codex' own
   * provider with another address. Codex takes it for the reference: it tries WebSocket first, adds notes to items, and
   * lets the server compact.
   */
  readonly provider?: "own" | "websocket" | "built-in";
  /** The whole config.toml, in place of one made from the options above. */
  readonly whole?: string;
}

/** A temporary folder with its own home, in which `codex exec` runs against a server. */
export class CodexScratch {
  readonly folder: string;
  readonly #home: string;
  readonly #server: TestServer;

  constructor(folder: string, home: string, server: TestServer) {
    this.folder = folder;
    this.#home = home;
    this.#server = server;
  }

  static async open(server: TestServer, options: CodexOptions = {}): Promise<CodexScratch> {
    const root = await mkdtemp(join(tmpdir(), "antiphon-codex-"));
    const scratch = new CodexScratch(join(root, "work"), join(root, "home"), server);
    await mkdir(scratch.folder);
    await mkdir(scratch.#home);
    await writeFile(join(scratch.#home, "catalog.json"), JSON.stringify(MODEL_CATALOG));
    await writeFile(join(scratch.#home, "config.toml"), options.whole ?? scratch.#config(options));
    return scratch;
  }

  /** Runs `codex exec` with these arguments until it ends. */
  async exec(...parameters: readonly string[]): Promise<CodexRun> {
    const last = join(this.#home, "last-message.txt");
    const child = spawn(
      PROGRAM,
      ["exec", "--json", "--skip-git-repo-check", "-o", last, "-s", "danger-full-access", ...parameters],
      { cwd: this.folder, env: this.#environment(), stdio: ["ignore", "pipe", "pipe"], timeout: TIMEOUT_MS },
    );
    const [stdout, stderr, exitCode] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      new Promise<number | null>((done, failed) => child.on("exit", done).on("error", failed)),
    ]);
    const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
    return {
      exitCode,
      lines: lines.map((line) => Line.parse(JSON.parse(line))),
      lastMessage: await readFile(last, "utf8").catch(() => ""),
      stderr,
    };
  }

  read(file: string): Promise<string> {
    return readFile(join(this.folder, file), "utf8");
  }

  async close(): Promise<void> {
    await rm(resolve(this.folder, ".."), { recursive: true, force: true });
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      HOME: this.#home,
      CODEX_HOME: this.#home,
      ANTIPHON_API_KEY: this.#server.apiKey,
      CODEX_API_KEY: this.#server.apiKey,
      ...DEAD_PROXY,
    };
  }

  #config({ model = "antiphon-coder", config = "", tables = "", provider = "own" }: CodexOptions): string {
    const catalog = model === "antiphon-coder" ? `model_catalog_json = "${join(this.#home, "catalog.json")}"` : "";
    const address =
      provider === "built-in" ? `openai_base_url = "${this.#server.url}/v1"` : 'model_provider = "antiphon"';
    return `
model = "${model}"
${address}
${catalog}
check_for_update_on_startup = false
${config}

[analytics]
enabled = false

[model_providers.antiphon]
name = "Antiphon"
base_url = "${this.#server.url}/v1"
env_key = "ANTIPHON_API_KEY"
wire_api = "responses"
supports_websockets = ${provider === "websocket"}
request_max_retries = 0
stream_max_retries = 0

${tables}
`;
  }
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
