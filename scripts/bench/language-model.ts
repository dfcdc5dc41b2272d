import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { fetchEngineForTests } from "../../tests/embedded-model/language-engine.ts";
import { freePort } from "../../tests/kit/http-server.ts";
import { KEY, startTrialServer } from "../tools-quality/trial-server.ts";
import { cleanUp } from "./clean-up.ts";
import { median } from "./statistics.ts";

const FOLDER = resolve(import.meta.dirname, "../../.cache/real-model");
/** What `make real-model` compiles and fetches. `LANGUAGE_MODEL_FILE` names another file. */
const PYTHON = join(FOLDER, "venv/bin/python");
const MODEL_FILE = resolve(
  process.env["LANGUAGE_MODEL_FILE"] ?? join(FOLDER, "data/language-model/SmolLM2-135M-Instruct.Q4_1.gguf"),
);
const ROUNDS = Number(process.env["ROUNDS"] ?? 7);
const THREADS = "1";
const WINDOW = "8192";
const START_MS_MAX = 60_000;
const PROMPT_WORDS = 700;
const ANSWER_TOKENS = 128;
const TURNS = 10;
const TURN_TOKENS = 24;
const RATE_RATIO_MIN = 0.95;
const FIRST_RATIO_MAX = 1.1;

type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** One of the two servers, with what was measured in each round. */
interface Side {
  readonly name: string;
  readonly client: OpenAI;
  readonly model: string;
  readonly promptRates: number[];
  readonly answerRates: number[];
  readonly lastTurnsMs: number[];
}

/**
 * Measures a language model in a child, through the whole server, beside llama-cpp-python's server with the same file
 * and threads: tokens of a prompt and of an answer a second, and the time to the first token of the tenth turn.
 */
export async function measureLanguageModel(): Promise<void> {
  const engine = await fetchEngineForTests();
  const isThere = existsSync(PYTHON) && existsSync(MODEL_FILE);
  if (engine === null || !isThere) return console.log("left out: make real-model compiles and fetches what it needs");
  const ours = await startOurs(engine);
  const theirs = await startTheirs();
  for (const side of [ours, theirs]) await timedAnswer(side, [{ role: "user", content: "Hello" }], 8);
  for (let round = 0; round < ROUNDS; round++)
    for (const side of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) await measureRound(side, round);
  const rates = { least: RATE_RATIO_MIN };
  print("prompt, tokens/s", [ours.promptRates, theirs.promptRates], rates);
  print("answer, tokens/s", [ours.answerRates, theirs.answerRates], rates);
  print("first token of turn 10, ms", [ours.lastTurnsMs, theirs.lastTurnsMs], { most: FIRST_RATIO_MAX });
  process.exit(process.exitCode ?? 0);
}

function print(name: string, [ours, theirs]: readonly number[][], must: { least?: number; most?: number }): void {
  const ratios = (ours ?? []).map((value, round) => value / (theirs?.[round] ?? Number.NaN));
  const ratio = median(ratios);
  const isMet = ratio >= (must.least ?? 0) && ratio <= (must.most ?? Number.POSITIVE_INFINITY);
  const bound = must.least === undefined ? `at most ${must.most}` : `at least ${must.least}`;
  const figures = [median(ours ?? []), median(theirs ?? [])].map((value) => value.toFixed(1).padStart(9)).join("");
  console.log(`${name.padEnd(28)}${figures}   ratio ${ratio.toFixed(2)}, ${bound}: ${isMet ? "met" : "MISSED"}`);
  if (!isMet) process.exitCode = 1;
}

async function startOurs(engine: string): Promise<Side> {
  const dataDir = join(FOLDER, "bench");
  mkdirSync(dataDir, { recursive: true });
  const model = { MODEL_FILE, MODEL_ENGINE_DIR: engine, MODEL_THREADS: THREADS, MODEL_CONTEXT_WINDOW: WINDOW };
  const { url } = await startTrialServer(dataDir, { ...model, MODEL_SLOTS: "1", LOG_LEVEL: "error" });
  return sideOf("this server", `${url}/v1`, "embedded");
}

async function startTheirs(): Promise<Side> {
  const port = await freePort();
  const settings = {
    model: MODEL_FILE,
    model_alias: "m",
    port,
    n_ctx: WINDOW,
    n_threads: THREADS,
    n_threads_batch: THREADS,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(PYTHON, ["-m", "llama_cpp.server", ...args], { stdio: "ignore" });
  cleanUp(() => child.kill());
  const url = `http://127.0.0.1:${port}/v1`;
  for (const end = Date.now() + START_MS_MAX; Date.now() < end; await sleep(100))
    if ((await fetch(`${url}/models`).catch(() => null))?.ok === true) return sideOf("llama-cpp-python", url, "m");
  throw new Error("llama-cpp-python did not start");
}

function sideOf(name: string, baseURL: string, model: string): Side {
  const client = new OpenAI({ baseURL, apiKey: KEY, timeout: START_MS_MAX * 10, maxRetries: 0 });
  return { name, client, model, promptRates: [], answerRates: [], lastTurnsMs: [] };
}

async function measureRound(side: Side, round: number): Promise<void> {
  const words = Array.from({ length: PROMPT_WORDS }, (_, place) => `${WORDS[(place * (round + 3)) % WORDS.length]}`);
  const startedMs = performance.now();
  const { usage } = await side.client.chat.completions.create({
    model: side.model,
    messages: [{ role: "user", content: `${round} ${words.join(" ")}` }],
    temperature: 0,
    max_tokens: 1,
  });
  side.promptRates.push(((usage?.prompt_tokens ?? 0) * 1000) / (performance.now() - startedMs));
  const question = `Tell a long story about ${WORDS[round % WORDS.length]}.`;
  const { firstMs, endMs, tokens } = await timedAnswer(side, [{ role: "user", content: question }], ANSWER_TOKENS);
  side.answerRates.push(((tokens - 1) * 1000) / (endMs - firstMs));
  side.lastTurnsMs.push(await lastTurnMs(side, round));
}

const WORDS = "the river rises in hills and turns to sea while birds walk along its banks every morning".split(" ");

/** The time to the first token of the tenth turn of a chat, in milliseconds. */
async function lastTurnMs(side: Side, round: number): Promise<number> {
  const messages: Message[] = [];
  let firstMs = 0;
  for (let turn = 1; turn <= TURNS; turn++) {
    const content = `Turn ${turn} of ${round}. ${"We walked along the river and talked about birds. ".repeat(7)}`;
    messages.push({ role: "user", content });
    const answer = await timedAnswer(side, messages, TURN_TOKENS);
    messages.push({ role: "assistant", content: answer.text });
    ({ firstMs } = answer);
  }
  return firstMs;
}

/** Times from the request on, in milliseconds. Each chunk with text is a token. */
async function timedAnswer({ client, model }: Side, messages: readonly Message[], tokensMax: number) {
  const startedMs = performance.now();
  let firstMs: number | null = null;
  let tokens = 0;
  let text = "";
  const stream = await client.chat.completions.create({
    model,
    messages: [...messages],
    temperature: 0,
    max_tokens: tokensMax,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const { choices, usage } of stream) {
    const piece = choices[0]?.delta.content ?? "";
    if (piece !== "") {
      firstMs ??= performance.now() - startedMs;
      tokens += 1;
      text += piece;
    }
    tokens = usage?.completion_tokens ?? tokens;
  }
  const endMs = performance.now() - startedMs;
  return { firstMs: firstMs ?? endMs, endMs, tokens, text };
}
