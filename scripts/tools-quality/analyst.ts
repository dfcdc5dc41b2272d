/**
 * Runs nine tasks of an analyst through the tool code_interpreter of a server, on data that are made here, and prints
 * how many answers are right. The packages are those of `antiphon code setup`. An argument names another CODE_ENGINE.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import OpenAI, { toFile } from "openai";
import { removeFolder } from "../bench/clean-up.ts";
import { ANALYST_TASKS, type AnalystTask } from "./analyst-tasks.ts";
import { CACHE } from "./debian-faq.ts";
import { KEY, MAIN, startTrialServer } from "./trial-server.ts";

const TITLE_WIDTH = 50;
const MS_A_SECOND = 1000;
const FAULT_CHARACTERS_MAX = 1000;

type CodeCall = Extract<ResponseBody["output"][number], { readonly type: "code_interpreter_call" }>;

const engine = process.argv[2] ?? "bubblewrap";
const folder = mkdtempSync(join(tmpdir(), "antiphon-analyst-"));
const dataDir = join(CACHE, "data");
mkdirSync(dataDir, { recursive: true });
setUpCode(engine === "pyodide" ? ["--pyodide"] : []);
const scenarios = join(folder, "scenarios.yaml");
writeFileSync(scenarios, JSON.stringify({ fallback: "error", scenarios: ANALYST_TASKS.flatMap(scenesOf) }));
const env = { CODE_ENGINE: engine, SCENARIO_FILE: scenarios, DATABASE_FILE: ":memory:", EMBEDDING_FILE: "none" };
const server = await startTrialServer(dataDir, env);
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: KEY });
let right = 0;
for (const task of ANALYST_TASKS) right += (await tryTask(task)) ? 1 : 0;
console.log(`${right} of ${ANALYST_TASKS.length} with ${engine}`);
server.stop();
removeFolder(folder);
process.exitCode = right === ANALYST_TASKS.length ? 0 : 1;

/** The packages in the cache. */
function setUpCode(more: readonly string[]): void {
  const environment = { ...process.env, DATA_DIR: dataDir };
  execFileSync(process.execPath, [MAIN, "code", "setup", ...more], { cwd: CACHE, env: environment, stdio: "inherit" });
}

/** What the model says: the code of the task, and then that it is done. */
function scenesOf({ title, code }: AnalystTask): readonly object[] {
  return [
    {
      when: { input_contains: title, has_tool_output: false },
      events: [{ call: { name: "code_interpreter", arguments: { code } } }],
    },
    { when: { input_contains: title, has_tool_output: true }, events: [{ text: "Done." }] },
  ];
}

async function tryTask(task: AnalystTask): Promise<boolean> {
  const startedAt = performance.now();
  const fault = await faultOf(task).catch(String);
  const seconds = ((performance.now() - startedAt) / MS_A_SECOND).toFixed(1);
  console.log(`${task.title.padEnd(TITLE_WIDTH)}${seconds.padStart(6)} s  ${fault === null ? "right" : "wrong"}`);
  if (fault !== null) console.log(`  ${fault.slice(-FAULT_CHARACTERS_MAX)}`);
  return fault === null;
}

/** What is wrong with the answer; null if nothing is. */
async function faultOf({ title, files, printed, pictures, kept }: AnalystTask): Promise<string | null> {
  const uploads = await Promise.all(
    Object.entries(files).map(async ([name, text]) =>
      client.files.create({ purpose: "assistants", file: await toFile(Buffer.from(text), name) }),
    ),
  );
  const response = await client.responses.create({
    model: "antiphon-built-in",
    input: title,
    tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: uploads.map(({ id }) => id) } }],
    include: ["code_interpreter_call.outputs"],
  });
  const call = response.output.find((item): item is CodeCall => item.type === "code_interpreter_call");
  if (call === undefined) return "no code ran";
  const outputs = call.outputs ?? [];
  const lines = outputs.flatMap((output) => (output.type === "logs" ? output.logs.trimEnd().split("\n") : []));
  const shown = outputs.filter(({ type }) => type === "image").length;
  if (lines.at(-1) !== printed) return `${call.status}, printed ${JSON.stringify(lines)} instead of ${printed}`;
  if (shown !== pictures) return `${shown} pictures instead of ${pictures}`;
  const paths = new Set<string>();
  for await (const { path } of client.containers.files.list(call.container_id)) paths.add(path);
  const missing = kept.filter((name) => !paths.has(`/mnt/data/${name}`));
  return missing.length === 0 ? null : `${missing.join(", ")} is missing`;
}
