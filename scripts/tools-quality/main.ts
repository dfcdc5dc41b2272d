/**
 * Measures how well file_search finds the answers of FAQs, on a server of its own with the model that
 * `antiphon search setup` fetches, beside rank_bm25 and bm25s of PyPI. Arguments are languages of the Debian FAQ,
 * `perl`, `python` and `english`. Titles that are no questions are not asked; their texts are searched. The last column
 * has what thresholds of the score leave of right answers and of what is found for questions on other subjects.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import { fetchedEmbeddingFile } from "../../src/servers/choices/choose-embedder.ts";
import { familyPrefixes } from "../../src/vector-stores/embeddings/prefixes.ts";
import { describeEmbeddingFile } from "../../src/vector-stores/local-model/known-embedding-model.ts";
import { LocalEmbedder } from "../../src/vector-stores/local-model/local-embedder.ts";
import type { EmbeddingPurpose } from "../../src/vector-stores/ports/vectors.ts";
import { cleanUp, removeFolder } from "../bench/clean-up.ts";
import { type Answer, CACHE, readFaq } from "./debian-faq.ts";
import { FaqServer, type FoundText } from "./faq-server.ts";
import { ndcg, type Ranking, recall } from "./measures.ts";
import { KEY, MAIN, startTrialServer } from "./trial-server.ts";

const SETS = ["english", "en", "perl", "python", "de", "fr", "it", "nl", "pt", "ru"];
const THRESHOLDS = [0.3, 0.5];
/** What no FAQ of a program answers. */
const FOREIGN_QUESTIONS = [
  "How long does sourdough bread have to rise?",
  "Which birds migrate over the Sahara?",
  "Wie schneidet man im Winter einen Apfelbaum?",
  "Quel vin accompagne le poisson grillé?",
  "Quanto dura il viaggio in treno da Roma a Napoli?",
  "Почему осенью желтеют листья?",
];
const PACKAGES = ["rank-bm25==0.2.2", "bm25s==0.3.16", "numpy==2.4.6"];
/** How long all questions may wait for their vectors, in milliseconds. */
const PATIENCE_MS = 3_600_000;

/** For each question, the numbers of the found answers, best first. */
type Rankings = readonly (readonly number[])[];

interface Question {
  readonly text: string;
  /** The number of the answer. */
  readonly right: number;
}

function questionsOf(answers: readonly Answer[]): readonly Question[] {
  return answers.flatMap(({ question }, right) => (question === null ? [] : [{ text: question, right }]));
}

const asked = process.argv.slice(2);
const modelFile = fetchModel();
const columns = ["words", "hybrid", "meaning", "rank_bm25", "bm25s"].map((name) => name.padEnd(14));
const thresholds = THRESHOLDS.map((threshold) => `>=${threshold}`).join(" ");
console.log(`${"nDCG@10 recall@10".padEnd(28)}${columns.join("")}hybrid, right ${thresholds}, other ${thresholds}`);
for (const set of asked.length === 0 ? SETS : asked) await measureSet(set, readFaq(set));

async function measureSet(set: string, answers: readonly Answer[]): Promise<void> {
  const before = performance.now();
  const questions = questionsOf(answers);
  const byWords = await serverFinds("none", answers);
  const hybrid = await serverFinds(modelFile, answers);
  const rankings: readonly Rankings[] = [
    rankingsOf(byWords.found),
    rankingsOf(hybrid.found),
    await cosineRankings(modelFile, answers),
    ...peerRankings(answers),
  ];
  const seconds = Math.round((performance.now() - before) / 1000);
  const cells = rankings.map((ofQuestions) => cellOf(ofQuestions, questions).padEnd(14));
  const right = hybrid.found.flatMap((texts, index) =>
    texts.filter(({ number }) => number === questions[index]?.right),
  );
  const kept = [right, hybrid.foreign.flat()].map((texts) => keptShares(texts).join(" ")).join(", ");
  const title = `${set}, ${questions.length} of ${answers.length}, ${seconds} s`;
  console.log(`${title.padEnd(28)}${cells.join("")}${kept}`);
}

function cellOf(rankings: Rankings, questions: readonly Question[]): string {
  const pairs = questions.map(({ right }, index): Ranking => ({ found: rankings[index] ?? [], right }));
  return `${ndcg(pairs).toFixed(3)} ${recall(pairs).toFixed(3)}`;
}

/** The shares of these texts whose score reaches each threshold. */
function keptShares(texts: readonly FoundText[]): readonly string[] {
  return THRESHOLDS.map((threshold) => {
    const kept = texts.filter(({ score }) => score >= threshold).length;
    return (kept / Math.max(1, texts.length)).toFixed(2);
  });
}

function rankingsOf(found: readonly (readonly FoundText[])[]): Rankings {
  return found.map((texts) => [...new Set(texts.map(({ number }) => number))]);
}

interface Finds {
  readonly found: readonly (readonly FoundText[])[];
  /** For questions on other subjects. */
  readonly foreign: readonly (readonly FoundText[])[];
}

/** What a new server with this EMBEDDING_FILE finds by its defaults. */
async function serverFinds(embeddingFile: string, answers: readonly Answer[]): Promise<Finds> {
  const dataDir = mkdtempSync(join(tmpdir(), "antiphon-quality-"));
  const remove = cleanUp(() => removeFolder(dataDir));
  const server = await startTrialServer(dataDir, { EMBEDDING_FILE: embeddingFile, CODE_ENGINE: "off" });
  const client = new FaqServer(server.url, KEY);
  const storeId = await client.fill(answers.map(({ text }) => text));
  const questions = questionsOf(answers).map(({ text }) => text);
  const found = await client.search(storeId, questions);
  const foreign = await client.search(storeId, FOREIGN_QUESTIONS);
  server.stop();
  remove();
  return { found, foreign };
}

/** By the cosine of whole texts alone. */
async function cosineRankings(path: string, answers: readonly Answer[]): Promise<Rankings> {
  const file = describeEmbeddingFile(path);
  if (file === null) throw new Error(`there is no ${path}`);
  const options = { prefixes: familyPrefixes("e5-small"), questionMs: PATIENCE_MS, idleMs: 1000, log: silentLogger };
  const embedder = new LocalEmbedder({ ...file, ...options });
  const never = new AbortController().signal;
  const vectorsOf = async (texts: readonly string[], purpose: EmbeddingPurpose): Promise<readonly Float32Array[]> =>
    await embedder.embed(embedder.modelName, texts, purpose, never);
  const passages = await vectorsOf(
    answers.map(({ text }) => text),
    "passage",
  );
  const questions = await vectorsOf(
    questionsOf(answers).map(({ text }) => text),
    "question",
  );
  return questions.map((question) => {
    const cosines = passages.map((passage) =>
      passage.reduce((sum, value, index) => sum + value * (question[index] ?? 0), 0),
    );
    return [...cosines.keys()].toSorted((one, other) => (cosines[other] ?? 0) - (cosines[one] ?? 0));
  });
}

/** The model file in the cache. */
function fetchModel(): string {
  const cacheDir = join(CACHE, "data");
  mkdirSync(CACHE, { recursive: true });
  const env = { ...process.env, DATA_DIR: cacheDir };
  execFileSync(process.execPath, [MAIN, "search", "setup"], { cwd: CACHE, env, stdio: "inherit" });
  return fetchedEmbeddingFile({ dataDir: cacheDir });
}

/** The rankings of rank_bm25 and of bm25s. */
function peerRankings(answers: readonly Answer[]): readonly Rankings[] {
  const questions = questionsOf(answers).map(({ text }) => text);
  const input = JSON.stringify({ questions, passages: answers.map(({ text }) => text) });
  const output = execFileSync(python(), [join(import.meta.dirname, "peers.py")], { input });
  const { rank_bm25, bm25s }: { readonly rank_bm25: Rankings; readonly bm25s: Rankings } = JSON.parse(
    output.toString(),
  );
  return [rank_bm25, bm25s];
}

/** The interpreter of a virtual environment with the peers, which is made if it is missing. */
function python(): string {
  const folder = join(CACHE, "venv");
  const program = join(folder, "bin/python");
  if (existsSync(join(folder, "ready"))) return program;
  execFileSync("python3", ["-m", "venv", folder], { stdio: "inherit" });
  execFileSync(program, ["-m", "pip", "install", "--quiet", "--no-deps", ...PACKAGES], { stdio: "inherit" });
  mkdirSync(join(folder, "ready"));
  return program;
}
