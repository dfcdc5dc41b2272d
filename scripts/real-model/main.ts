import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { startProgram } from "../bench/processes.ts";

/**
 * Streams through a real model server: llama-cpp-python from PyPI, with a tiny model of random weights that
 * `tiny_model.py` writes. The first run compiles llama.cpp, which takes minutes. Needs Python 3 with venv and a C++
 * compiler; not part of the tests.
 */
const folder = join(import.meta.dirname, "../../.cache/real-model");
const python = join(folder, "venv/bin/python");
const model = join(folder, "tiny.gguf");
const PORT = "18081";
const MODEL_NAME = "tiny";

function prepare(): void {
  mkdirSync(folder, { recursive: true });
  const run = (program: string, ...args: string[]): unknown => execFileSync(program, args, { stdio: "inherit" });
  if (!existsSync(python)) run("python3", "-m", "venv", join(folder, "venv"));
  run(python, "-m", "pip", "install", "--quiet", "llama-cpp-python[server]==0.3.36", "gguf==0.19.0", "numpy");
  if (!existsSync(model)) run(python, join(import.meta.dirname, "tiny_model.py"), model);
}

/** Starts the model server and waits until it answers. */
async function startModelServer() {
  const child = spawn(
    python,
    ["-m", "llama_cpp.server", "--model", model, "--model_alias", MODEL_NAME, "--port", PORT, "--n_ctx", "1024"],
    {
      stdio: "ignore",
    },
  );
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const isUp = await fetch(`http://127.0.0.1:${PORT}/v1/models`).then(
      (reply) => reply.ok,
      () => false,
    );
    if (isUp) return child;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error("the model server did not start");
}

async function tryOut(client: OpenAI): Promise<void> {
  const names: string[] = [];
  for await (const listed of client.models.list()) names.push(listed.id);
  console.log("models:", names.join(", "));

  const stream = client.responses.stream({ model: MODEL_NAME, input: "the tide", max_output_tokens: 24 });
  let deltas = 0;
  stream.on("response.output_text.delta", () => {
    deltas += 1;
  });
  const first = await stream.finalResponse();
  console.log(
    `streamed: ${deltas} deltas, status ${first.status}, usage ${JSON.stringify(first.usage)}: ${first.output_text}`,
  );

  const second = await client.responses.create({
    model: MODEL_NAME,
    previous_response_id: first.id,
    input: "and then",
    max_output_tokens: 16,
  });
  console.log(`chained: status ${second.status}, ${second.usage?.input_tokens} input tokens: ${second.output_text}`);
}

prepare();
const modelServer = await startModelServer();
const dataDir = join(folder, "data");
rmSync(dataDir, { recursive: true, force: true });
const server = await startProgram(
  join(import.meta.dirname, "../../src/main.ts"),
  {
    PORT: "0",
    STT_PORT: "0",
    SPEECH_ENGINE: "none",
    DATA_DIR: dataDir,
    MODEL_BASE_URL: `http://127.0.0.1:${PORT}/v1`,
    LOG_LEVEL: "warn",
  },
  /(http:\/\/127\.0\.0\.1:\d+)\/v1/,
);
try {
  await tryOut(
    new OpenAI({
      baseURL: `${server.match[1]}/v1`,
      apiKey: readFileSync(join(dataDir, "api-key"), "utf8").trim(),
      maxRetries: 0,
    }),
  );
} finally {
  server.child.kill("SIGTERM");
  modelServer.kill("SIGTERM");
}
