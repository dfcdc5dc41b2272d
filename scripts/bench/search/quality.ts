import { silentLogger } from "@antiphon/base/logger.ts";
import type { Store } from "../../../src/store/open-store.ts";
import { StoredPassages } from "../../../src/vector-stores/passage-finder.ts";
import type { Embedder } from "../../../src/vector-stores/ports/vectors.ts";
import { formsOfText } from "../../../src/vector-stores/words/text-language.ts";
import { loadForms } from "../../../src/vector-stores/words/word-forms.ts";
import { wordsOf } from "../../../src/vector-stores/words/words.ts";
import { addChunks, claim, createVectorStore, finish, OWNER, openBenchStore } from "./bench-store.ts";
import { type Collection, DEPTH, gainOf, type JudgedQuestion, readCollection, recallOf } from "./collection.ts";
import { embedOnce, MODEL } from "./embed-once.ts";
import { runPython } from "./python.ts";

const NO_VECTOR = new Float32Array(0);
const NEVER = new AbortController().signal;

/** The ids of the best passages for each question, best first. */
type Rankings = readonly (readonly string[])[];

/**
 * Measures how good the results of our search are, beside rank-bm25 from PyPI and the plain cosine of the same vectors.
 * All languages are in one vector store. The vectors come from a model that knows English only.
 */
export async function measureSearchQuality(): Promise<void> {
  const collection = readCollection();
  const english = await loadForms("eng");
  const { passages, questions } = collection;
  console.log(`\nsearch among ${passages.length} passages in four languages, ${questions.length} questions`);
  const [vectors, asked] = await embedOnce([passages, questions].map((list) => list.map(({ text }) => text)));
  const embedder = new KnownVectors(new Map(questions.map(({ text }, index) => [text, asked?.[index] ?? NO_VECTOR])));
  const bench = await openBenchStore();
  try {
    const storeId = await fill(bench.store, collection, vectors ?? []);
    const search = (by: KnownVectors | null, wordsWeight: number): Promise<Rankings> => {
      const finder = new StoredPassages(
        bench.store.chunks,
        { embedder: by, reranker: null, rewriter: null },
        silentLogger,
      );
      return Promise.all(questions.map((question) => find(finder, storeId, question, wordsWeight)));
    };
    const rows: readonly (readonly [string, Rankings])[] = [
      ["words", await search(null, 1)],
      ["rank-bm25, words in lower case", peerRankings(collection, plainWords)],
      ["rank-bm25, our English words", peerRankings(collection, (text) => [...wordsOf(text, english)])],
      ["meaning", await search(embedder, 0)],
      ["plain cosine", cosineRankings(collection, vectors ?? [], asked ?? [])],
      ["both", await search(embedder, 1)],
    ];
    print(questions, rows);
  } finally {
    await bench.close();
  }
}

/** Gives the vectors of questions that were embedded before. */
class KnownVectors implements Pick<Embedder, "embed"> {
  readonly #vectors: ReadonlyMap<string, Float32Array>;

  constructor(vectors: ReadonlyMap<string, Float32Array>) {
    this.#vectors = vectors;
  }

  embed(_modelName: string, texts: readonly string[]): Promise<readonly Float32Array[]> {
    return Promise.resolve(texts.map((text) => this.#vectors.get(text) ?? NO_VECTOR));
  }
}

/** Each passage is a file of one chunk, named by the passage's id. */
async function fill(store: Store, { passages }: Collection, vectors: readonly Float32Array[]): Promise<string> {
  const byName = new Map(passages.map(({ id, text }, index) => [id, { text, vector: vectors[index] ?? null }]));
  const storeId = await createVectorStore(
    store,
    passages.map(({ id }) => ({ name: id })),
  );
  for (let taken = 0; taken < passages.length; taken += 1) {
    const task = await claim(store);
    const file = await store.files.findFile(OWNER, task.fileId);
    const { text, vector } = byName.get(file?.filename ?? "") ?? { text: "", vector: null };
    const forms = await formsOfText(text);
    const words = [...wordsOf(text, forms)];
    const place = { ordinal: 0, start: 0, end: text.length, headings: [], columns: null };
    const chunk = { ...place, text, words, language: forms.language, vector };
    await addChunks(store, task, [chunk], { name: MODEL, dimensions: vector?.length ?? 0 });
    await finish(store, task);
  }
  return storeId;
}

/** `wordsWeight` 0: by meaning only. */
async function find(
  finder: StoredPassages,
  storeId: string,
  { text }: JudgedQuestion,
  wordsWeight: number,
): Promise<readonly string[]> {
  const weights = { words: wordsWeight, meaning: 1 };
  const asked = {
    storeIds: [storeId],
    queries: [text],
    rewrites: false,
    filter: null,
    resultsMax: DEPTH,
    scoreMin: 0,
    weights,
  };
  const found = await finder.search(OWNER, { ...asked, order: "ranks" }, NEVER);
  if (found.type !== "found") throw new Error(`nothing was searched: ${found.type}`);
  return found.passages.map(({ filename }) => filename);
}

function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function peerRankings({ passages, questions }: Collection, split: (text: string) => string[]): Rankings {
  const answered = runPython("rank_bm25_peer.py", {
    passages: passages.map(({ text }) => split(text)),
    questions: questions.map(({ text }) => split(text)),
  });
  if (!Array.isArray(answered)) throw new Error("rank-bm25 gave no rankings");
  return answered.map((places: unknown) =>
    Array.isArray(places) ? places.map((place) => passages[Number(place)]?.id ?? "") : [],
  );
}

function cosineRankings(
  { passages }: Collection,
  vectors: readonly Float32Array[],
  asked: readonly Float32Array[],
): Rankings {
  return asked.map((question) => {
    const cosines = vectors.map((vector) => vector.reduce((sum, value, k) => sum + value * (question[k] ?? 0), 0));
    const places = passages
      .map((_, place) => place)
      .toSorted((one, other) => (cosines[other] ?? 0) - (cosines[one] ?? 0));
    return places.slice(0, DEPTH).map((place) => passages[place]?.id ?? "");
  });
}

function print(questions: readonly JudgedQuestion[], rows: readonly (readonly [string, Rankings])[]): void {
  const languages = [...new Set(questions.map(({ language }) => language))];
  console.log(
    `  nDCG@${DEPTH} and recall@${DEPTH}`.padEnd(36) + ["all", ...languages].map((name) => name.padEnd(14)).join(""),
  );
  for (const [name, rankings] of rows) {
    const cells = [null, ...languages].map((language) => {
      const places = [...questions.keys()].filter((at) => language === null || questions[at]?.language === language);
      return `${meanOver(places, gainOf)}  ${meanOver(places, recallOf)}`.padEnd(14);
    });
    console.log(`  ${name}`.padEnd(36) + cells.join(""));

    function meanOver(
      places: readonly number[],
      measure: (ranking: readonly string[], question: JudgedQuestion) => number,
    ): string {
      const sum = places.reduce((total, at) => {
        const question = questions[at];
        return question === undefined ? total : total + measure(rankings[at] ?? [], question);
      }, 0);
      return (sum / places.length).toFixed(3);
    }
  }
}
