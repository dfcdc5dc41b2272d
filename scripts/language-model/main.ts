/**
 * Tries a language model that this server runs itself, through the whole server and the official client, and prints
 * figures of quality, speed and memory. Usage: node scripts/language-model/main.ts [FILE.gguf]; without a file, the
 * known model is fetched into .cache/real-model, 142 MB with its engine.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import OpenAI from "openai";
import { KEY, MAIN, startTrialServer } from "../tools-quality/trial-server.ts";
import { FUNCTIONS, QUESTIONS, SHAPES } from "./sets.ts";

const MODEL = "embedded";
const DATA_DIR = resolve(import.meta.dirname, "../../.cache/real-model/data");
const TURNS = 10;

const [, , file = null] = process.argv;
mkdirSync(DATA_DIR, { recursive: true });
pull(file === null ? [] : ["engine"]);
const server = await startTrialServer(DATA_DIR, file === null ? {} : { MODEL_FILE: resolve(file) });
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY, timeout: 600_000 });

await speed();
await chain();
await questions();
await shapes();
await calls();
await freeCalls();
console.log(`memory      ${memoryText()}`);
server.stop();
process.exit(0);

function pull(words: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [MAIN, "pull", ...words, "--yes"], {
    env: { ...process.env, DATA_DIR },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("the model could not be fetched");
}

/** The time to the first word, and words a second after it. */
async function timed(request: Omit<OpenAI.Responses.ResponseCreateParamsStreaming, "stream" | "model">) {
  const startMs = performance.now();
  let firstMs: number | null = null;
  let final: OpenAI.Responses.Response | null = null;
  for await (const event of await client.responses.create({ model: MODEL, ...request, stream: true })) {
    if (event.type === "response.output_text.delta") firstMs ??= performance.now();
    if (event.type === "response.completed" || event.type === "response.incomplete") final = event.response;
  }
  const endMs = performance.now();
  const outputTokens = final?.usage?.output_tokens ?? 0;
  const first = firstMs ?? endMs;
  return { final, firstMs: first - startMs, perSecond: (outputTokens * 1000) / Math.max(1, endMs - first) };
}

async function speed(): Promise<void> {
  await timed({ input: "Hello", max_output_tokens: 16 }); // Loads the file's pages.
  const input = `Sum this up: ${"The river rises in the hills and turns to the sea. ".repeat(60)}`;
  const { final, firstMs, perSecond } = await timed({ input, max_output_tokens: 100, temperature: 0 });
  const read = final?.usage?.input_tokens ?? 0;
  console.log(
    `speed       ${Math.round((read * 1000) / firstMs)} tokens/s read, ${perSecond.toFixed(1)} tokens/s written`,
  );
}

async function chain(): Promise<void> {
  let previous: string | null = null;
  const rows: string[] = [];
  for (let turn = 1; turn <= TURNS; turn++) {
    const input = `Turn ${turn}. ${"We walked along the river and talked about birds. ".repeat(7)}`;
    const { final, firstMs } = await timed({
      input,
      previous_response_id: previous,
      max_output_tokens: 24,
      temperature: 0,
    });
    previous = final?.id ?? null;
    const { input_tokens: read = 0, input_tokens_details: details } = final?.usage ?? {};
    if ([1, 2, 5, TURNS].includes(turn))
      rows.push(
        `turn ${turn}: ${read} tokens, ${details?.cached_tokens ?? 0} from the cache, first word after ${Math.round(firstMs)} ms`,
      );
  }
  console.log(`chain       ${rows.join("\n            ")}`);
}

async function questions(): Promise<void> {
  let right = 0;
  for (const { ask, right: expected } of QUESTIONS) {
    const { output_text: text } = await client.responses.create({
      model: MODEL,
      input: ask,
      temperature: 0,
      max_output_tokens: 60,
    });
    if (expected.test(text)) right += 1;
  }
  console.log(`questions   ${right} of ${QUESTIONS.length} right`);
}

async function shapes(): Promise<void> {
  const ajv = new Ajv2020({ strict: false, formats: { date: /^\d{4}-\d\d-\d\d$/ } });
  let valid = 0;
  let cut = 0;
  let all = 0;
  for (const { name, schema, prompts } of SHAPES) {
    const validate = ajv.compile(schema);
    for (const input of prompts) {
      const format = { type: "json_schema" as const, name, strict: true, schema: { ...schema } };
      const { output_text: text, status } = await client.responses.create({
        model: MODEL,
        input,
        text: { format },
        max_output_tokens: 2000,
      });
      all += 1;
      if (status !== "completed") {
        cut += 1;
        console.log(`            cut: ${name}: ${text.slice(-80)}`);
      } else if (validate(JSON.parse(text))) valid += 1;
      else console.log(`            not valid: ${name}: ${text}`);
    }
  }
  console.log(`schemas     ${valid} of ${all} valid, ${cut} cut by the limit`);
}

/** The calls of all functions, with this choice. `asked` tells which function is meant. */
async function callsWith(choice: (name: string) => OpenAI.Responses.ResponseCreateParams["tool_choice"]) {
  const ajv = new Ajv2020({ strict: false });
  const tools = FUNCTIONS.map(({ name, description, parameters }) => ({
    type: "function" as const,
    strict: true,
    name,
    description,
    parameters: { ...parameters },
  }));
  const counts = { all: 0, called: 0, wellFormed: 0, rightName: 0 };
  for (const { name, asks } of FUNCTIONS) {
    for (const input of asks) {
      counts.all += 1;
      const { output, status } = await client.responses.create({
        model: MODEL,
        input,
        tools,
        tool_choice: choice(name) ?? "auto",
        temperature: 0,
        max_output_tokens: 300,
      });
      const call = output.find((item) => item.type === "function_call");
      if (call === undefined) continue;
      counts.called += 1;
      if (call.name === name) counts.rightName += 1;
      if (status !== "completed") continue; // The limit cut the arguments.
      const called = FUNCTIONS.find((one) => one.name === call.name);
      if (called !== undefined && ajv.validate({ ...called.parameters }, JSON.parse(call.arguments)))
        counts.wellFormed += 1;
    }
  }
  return counts;
}

async function calls(): Promise<void> {
  const required = await callsWith(() => "required");
  console.log(
    `required    ${required.wellFormed} of ${required.all} well-formed, ${required.rightName} of the right function`,
  );
  const named = await callsWith((name) => ({ type: "function", name }));
  console.log(`named       ${named.wellFormed} of ${named.all} well-formed`);
}

async function freeCalls(): Promise<void> {
  const { all, called, wellFormed, rightName } = await callsWith(() => "auto");
  console.log(`auto        ${called} of ${all} called, ${wellFormed} well-formed, ${rightName} of the right function`);
}

/** Of the processes that run the model, as Linux tells. */
function memoryText(): string {
  const statuses = globSync("/proc/[0-9]*/cmdline").filter((path) => {
    try {
      return (
        readFileSync(path, "utf8").includes(join("embedded-model", "child", "main")) &&
        readFileSync(path, "utf8").startsWith("/")
      );
    } catch {
      return false; // It has ended.
    }
  });
  const kilobytes = statuses.map((path) => {
    const status = readFileSync(path.replace("cmdline", "status"), "utf8");
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  });
  return `${Math.round(Math.max(0, ...kilobytes) / 1000)} MB at the peak, two slots of 8192 tokens`;
}
