/**
 * The ways of somebody new: installs the packed server in an empty folder, and then, in others and without a network
 * where the system allows that, starts it and asks for a first answer; once as it is, and once after `antiphon pull` of
 * a model file of this machine. Prints how long each took. Exits with 1 if an answer took more than ten seconds. Usage:
 * node scripts/newcomer.ts [FOLDER], where it is installed already.
 */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchEngineForTests } from "../tests/embedded-model/language-engine.ts";
import { tinyLanguageModel } from "./fixture-model/tiny-language-model.ts";

const FIRST_ANSWER_MS_MAX = 10_000;
const WAIT_MS_MAX = 120_000;
const LOOK_MS = 20;
/** Position of utime in /proc/PID/stat after the first two fields; stime follows. */
const USER_TICKS = 11;
const TICKS_PER_SECOND = 100;
const ALONE = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"];

const folder = mkdtempSync(join(tmpdir(), "antiphon-newcomer-"));
try {
  const installedIn = process.argv[2] === undefined ? install() : resolve(process.argv[2]);
  const commands = join(installedIn, "node_modules/.bin");
  await firstAnswer(commands, { name: "built-in", model: "antiphon-built-in", env: {}, pulled: null });
  const engine = await fetchEngineForTests();
  if (engine === null) console.log("pulled model           left out: there is no engine for this machine");
  else await firstAnswer(commands, pulledModel(engine));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the folder of the project. */
function install(): string {
  const tarball = globSync("build/antiphon-[0-9]*.tgz", { cwd: resolve(import.meta.dirname, "..") }).at(-1);
  if (tarball === undefined) throw new Error("There is no package in build/. Run make package.");
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true }\n');
  const startedAt = performance.now();
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", resolve(tarball)];
  execFileSync("npm", args, { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  console.log(`npm install            ${seconds(startedAt)} s (from npm's cache as far as that has it)`);
  return project;
}

/** One way to a first answer. */
interface Way {
  readonly name: string;
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  /** The file that `antiphon pull` takes before the start; null for none. */
  readonly pulled: string | null;
}

/** A model of random weights, so that the figures are those of the way and not of a model. */
function pulledModel(engine: string): Way {
  const file = join(folder, "Tiny-Random.F32.gguf");
  writeFileSync(file, tinyLanguageModel());
  return { name: "pulled model", model: "tiny-random", env: { MODEL_ENGINE_DIR: engine }, pulled: file };
}

/** Starts the command as a person would, and asks as the banner says. */
async function firstAnswer(commands: string, { name, model, env: more, pulled }: Way): Promise<void> {
  const place = join(folder, name.replaceAll(" ", "-"));
  mkdirSync(place);
  const alone = spawnSync("unshare", ["--map-root-user", "--net", "true"]).status === 0 ? ALONE : [];
  const PATH = `${commands}:${process.env["PATH"] ?? ""}`;
  const basic = { PORT: "0", STT_PORT: "0", SPEECH_ENGINE: "none", FIND_LOCAL_DAEMON: "false" };
  const env = { ...process.env, PATH, ...basic, ...more };
  const [program, ...args] = [...alone, "antiphon"];
  const startedAt = performance.now();
  if (pulled !== null) {
    execFileSync(program, [...args, "pull", pulled, "--yes"], {
      cwd: place,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    console.log(`${name}: pull      ${seconds(startedAt)} s`);
  }
  const child = spawn(program, args, { cwd: place, env, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  try {
    const url = await found(() => /Responses API\s+(http:\S+)\/v1/.exec(said)?.[1]);
    const key = await found(() => /API key\s+(sk-\S+)/.exec(said)?.[1]);
    console.log(`${name}: until it listens ${seconds(startedAt)} s${alone.length > 0 ? ", without a network" : ""}`);
    if (readFileSync(join(place, "data/api-key"), "utf8").trim() !== key) throw new Error("data/api-key has no key.");
    const inside = ["nsenter", "--target", String(child.pid), "--user", "--net", "--preserve-credentials"];
    const body = JSON.stringify({ model, input: "Hello", max_output_tokens: 20 });
    const headers = [`authorization: Bearer ${key}`, "content-type: application/json"].flatMap((line) => ["-H", line]);
    const asked = ["curl", "--silent", "--fail", `${url}/v1/responses`, ...headers, "-d", body];
    const [caller = "", ...rest] = [...(alone.length > 0 ? inside : []), ...asked];
    const answer = execFileSync(caller, rest, { encoding: "utf8" });
    if (!/"output_text"/.test(answer) || !answer.includes(`"${model}"`)) throw new Error("No answer came.");
    const tookMs = performance.now() - startedAt;
    const spent = processorSeconds(child.pid ?? 0);
    console.log(
      `${name}: first answer after ${(tookMs / 1000).toFixed(1)} s, of ${FIRST_ANSWER_MS_MAX / 1000} s at most${spent}`,
    );
    if (tookMs > FIRST_ANSWER_MS_MAX) process.exitCode = 1;
  } finally {
    child.kill("SIGTERM");
  }
}

async function found(find: () => string | undefined): Promise<string> {
  const untilMs = performance.now() + WAIT_MS_MAX;
  while (performance.now() < untilMs) {
    const text = find();
    if (text !== undefined) return text;
    await sleep(LOOK_MS);
  }
  throw new Error(`The server said nothing of it within ${WAIT_MS_MAX / 1000} s.`);
}

/** What the server has used of the processors, where Linux tells it. */
function processorSeconds(pid: number): string {
  try {
    const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
    const ticks = Number(fields[USER_TICKS]) + Number(fields[USER_TICKS + 1]);
    return `; the server used ${(ticks / TICKS_PER_SECOND).toFixed(1)} s of processor time`;
  } catch {
    return "";
  }
}

function seconds(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}
