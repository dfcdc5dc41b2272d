import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { type TinyModelOptions, tinyLanguageModel } from "../../scripts/fixture-model/tiny-language-model.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { engineForTests } from "./language-engine.ts";

/** Null on machines without the engine. */
export const ENGINE = engineForTests();

/** The name under which every model file can be asked. */
export const MODEL = "embedded";

export interface ModelServer extends TestServer {
  readonly client: OpenAI;
}

const FILES = join(import.meta.dirname, "../../.cache/language-models");

/** A file of the model of random weights, which later runs find again. */
export async function tinyModelFile(options: TinyModelOptions = {}): Promise<string> {
  const bytes = tinyLanguageModel(options);
  const folder = join(FILES, createHash("sha256").update(bytes).digest("hex").slice(0, 16));
  const path = join(folder, "Tiny-Random.F32.gguf");
  if ((await readFile(path).catch(() => null))?.equals(bytes) === true) return path;
  await mkdir(folder, { recursive: true });
  await writeFile(`${path}.${process.pid}`, bytes);
  await rename(`${path}.${process.pid}`, path); // Other tests may be reading it.
  return path;
}

/** The settings of a server that runs a model file with the tests' engine. */
export function modelSettings(
  path: string,
  env: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return { MODEL_FILE: path, MODEL_ENGINE_DIR: ENGINE ?? "", MODEL_THREADS: "1", ...env };
}

/** The whole server with the model of random weights, which answers. It ends with the test. */
export async function startModelServer(
  env: Readonly<Record<string, string>> = {},
  options: TinyModelOptions = {},
): Promise<ModelServer> {
  return await serveModelFile(await tinyModelFile(options), env);
}

/** The whole server with any model file. */
export async function serveModelFile(path: string, env: Readonly<Record<string, string>> = {}): Promise<ModelServer> {
  const server = await startTestServer({ env: modelSettings(path, env) });
  return { ...server, client: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 }) };
}
