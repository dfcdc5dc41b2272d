import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startProgram } from "../bench/processes.ts";

/**
 * Tests both servers against their published documents with valid and invalid requests made by Schemathesis. Starts the
 * servers on free ports with an empty data folder. The first run fetches Schemathesis from PyPI; needs Python 3 with
 * venv; not part of the tests.
 */
const USAGE = `Usage: make fuzz ARGS="[options] [option of Schemathesis]..."
  --examples N   requests that are tried for each operation at most; 40 unless told
  --seed N       makes the same requests again; a run says which it used
  --only NAME    responses-api or local-stt`;

const VERSION = "4.32.5";
const FOLDER = join(import.meta.dirname, "../../.cache/fuzz");
const MAIN = join(import.meta.dirname, "../../src/main.ts");
const HOOKS = join(import.meta.dirname, "ndjson.py");
const READY = /Responses API\s+(http:\S+?)\/v1[\s\S]*?Speech to text\s+(http:\S+)/;
const API_KEY = "sk-fuzz-0123456789abcdef0123456789";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: true,
  options: {
    examples: { type: "string", default: "40" },
    seed: { type: "string" },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** The path of the program `st`; installs it if it is missing. */
function schemathesis(): string {
  const python = join(FOLDER, "venv/bin/python");
  mkdirSync(FOLDER, { recursive: true });
  if (!existsSync(python)) execFileSync("python3", ["-m", "venv", join(FOLDER, "venv")], { stdio: "inherit" });
  const wanted = ["-m", "pip", "install", "--quiet", `schemathesis==${VERSION}`];
  execFileSync(python, wanted, { stdio: "inherit" });
  return join(FOLDER, "venv/bin/st");
}

interface Target {
  /** Name of the interface and of its configuration file. */
  readonly name: string;
  readonly url: string;
  readonly headers: readonly string[];
}

async function fuzz(program: string, { name, url, headers }: Target): Promise<boolean> {
  const seed = values.seed === undefined ? [] : ["--seed", values.seed];
  const config = join(import.meta.dirname, `${name}.toml`);
  const args = ["--config-file", config, "run", `${url}/openapi.json`, "--url", url, "-n", values.examples];
  const child = spawn(program, [...args, ...seed, ...headers.flatMap((header) => ["-H", header]), ...positionals], {
    cwd: FOLDER, // Schemathesis keeps its cache there.
    env: { ...process.env, SCHEMATHESIS_HOOKS: HOOKS },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code] = await once(child, "exit");
  return code === 0;
}

async function run(): Promise<boolean> {
  const program = schemathesis();
  const dataDir = mkdtempSync(join(tmpdir(), "antiphon-fuzz-"));
  const settings = { PORT: "0", STT_PORT: "0", API_KEYS: API_KEY, DATA_DIR: dataDir, LOG_LEVEL: "fatal" };
  const quiet = { FIND_LOCAL_DAEMON: "false", SPEECH_ENGINE: "none", BODY_BYTES_MAX: "1048576" };
  const { child, match } = await startProgram(MAIN, { ...settings, ...quiet }, READY);
  const died = once(child, "exit").then(() => false);
  try {
    const [, responsesApi = "", localStt = ""] = match;
    const targets: Target[] = [
      { name: "responses-api", url: responsesApi, headers: [`Authorization: Bearer ${API_KEY}`] },
      { name: "local-stt", url: localStt, headers: [] },
    ];
    let isGood = true;
    for (const target of targets) {
      if (values.only !== undefined && values.only !== target.name) continue;
      console.log(`\n== ${target.name} ==`);
      isGood = (await Promise.race([fuzz(program, target), died])) && isGood;
    }
    return isGood && child.exitCode === null;
  } finally {
    child.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

if (values.help) console.log(USAGE);
else process.exitCode = (await run()) ? 0 : 1;
