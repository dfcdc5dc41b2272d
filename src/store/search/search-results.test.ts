import { expect } from "vitest";
import type { IndexedChunk } from "../../vector-stores/ports/chunks.ts";
import type { ChunkHit } from "../../vector-stores/ports/search.ts";
import { loadForms } from "../../vector-stores/words/word-forms.ts";
import { wordsOf } from "../../vector-stores/words/words.ts";
import type { Store } from "../open-store.ts";
import { openTestStore, testStores } from "../store.fixture.ts";
import { OURS } from "../stored-shapes.fixture.ts";
import { storeWith, upload } from "../stores/vector-stores/taken-in.fixture.ts";

const ENGLISH = await loadForms("eng");
const NEVER = new AbortController().signal;
const CHUNKING = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };

/** Each is a chunk of a file of its own. */
const TEXTS = [
  "Die Brücke über den Fluß führt zur Mühle. Über die Brücke geht der Müller.",
  "Im Grünen stand die alte Mühle; der Müller schlief.",
  "北京大学的图书馆很大，图书馆里有很多书。",
  "我在北京学习中文，天天去图书馆。",
  "Une école élémentaire près de l'église, à côté d'un café.",
  "Running runners run; read_file and readFile read files.",
  "The tide rises with the moon, and the moon pulls the tide.",
  "Привет, мир! Мир велик. Ελλάδα, Οδυσσέας.",
  "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
  "zero\0byte and \uE000 private",
];
const QUESTIONS = [
  "Brücke über Mühle",
  "mühle müller",
  "图书馆",
  "北京 中文 图书馆",
  "ecole cafe",
  "run readFile",
  "tide moon the",
  "мир ΟΔΥΣΣΕΑΣ",
  "ภาษาไทย",
  "zero byte private",
  "nothing of it",
];

testStores("the scores are those of BM25, in every language", async () => {
  const store = await openTestStore();
  const ids = [await storeOf(store, TEXTS.slice(0, 6)), await storeOf(store, TEXTS.slice(6))];
  await storeOf(store, [...TEXTS, ...TEXTS]); // Not searched.
  for (const question of QUESTIONS) {
    const expected = bm25(question);
    const found = new Map((await search(store, ids, question)).map(({ text, words }) => [text, words]));
    expect([...found.keys()].toSorted(), question).toEqual([...expected.keys()].toSorted());
    for (const [text, score] of expected) expect(found.get(text), `${question}: ${text}`).toBeCloseTo(score, 10);
  }
});

testStores("words in many chunks are left out of a question that has rarer ones", async () => {
  const store = await openTestStore();
  const texts = Array.from({ length: 2_100 }, (_, index) =>
    index % 1_000 === 7 ? "common often rare" : index % 50 === 0 ? "common" : "common often",
  );
  const id = await storeWith(store, [{ texts }]);
  const rare = await find(store, [id], ["common", "rare", "often"]);
  const only = await find(store, [id], ["rare"]);
  expect(rare.map(({ words }) => words)).toEqual(only.map(({ words }) => words));
  expect(rare).toHaveLength(3);
  const common = await find(store, [id], ["common", "often"]);
  expect(common.map(({ words }) => words)).toEqual((await find(store, [id], ["often"])).map(({ words }) => words));
});

testStores("of more chunks than are asked for, the best by words and by meaning are found", async () => {
  const store = await openTestStore();
  const model = { name: "test", dimensions: 24 };
  const texts = Array.from({ length: 300 }, (_, index) => "tide ".repeat(1 + (index % 7)).trim());
  const vectors = texts.map((_, index) => unit(Array.from({ length: 24 }, (_empty, k) => Math.sin(index * 7 + k))));
  const id = await storeWith(
    store,
    [0, 100, 200].map((start) => ({
      texts: texts.slice(start, start + 100),
      vectors: vectors.slice(start, start + 100),
    })),
    { model },
  );
  const asked = unit(Array.from({ length: 24 }, (_, k) => Math.sin(900 + k)));
  const question = {
    words: [["tide"]],
    stopWords: [],
    vectors: [{ model, vector: Float32Array.from(asked), commonShare: 0.4 }],
  };
  const expected = nearnesses(asked, vectors);
  for (let time = 0; time < 2; time++) {
    // The second search finds the vectors in memory.
    const found = await store.chunks.find({ owner: OURS, storeIds: [id], filter: null }, [question], 5, NEVER);
    const hits: readonly ChunkHit[] = found.type === "found" ? (found.hits[0] ?? []) : [];
    const nearest = hits.map(({ nearness }) => nearness ?? -1).toSorted((one, other) => other - one);
    for (let place = 0; place < 5; place++) expect(nearest[place]).toBeCloseTo(expected[place] ?? 0, 5);
    expect(hits.length).toBeGreaterThan(5);
    expect(hits.length).toBeLessThanOrEqual(10);
  }
});

/** Of the 20 chunks nearest to a question: the cosine less 0.4 of that with their middle. Best first. */
function nearnesses(asked: readonly number[], vectors: readonly (readonly number[])[]): readonly number[] {
  const nearest = vectors.toSorted((one, other) => product(other, asked) - product(one, asked)).slice(0, 20);
  const middle = asked.map((_, k) => nearest.reduce((sum, vector) => sum + (vector[k] ?? 0), 0) / nearest.length);
  return nearest
    .map((vector) => product(vector, asked) - 0.4 * product(vector, middle))
    .toSorted((one, other) => other - one);
}

function product(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, k) => sum + value * (other[k] ?? 0), 0);
}

function unit(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** A vector store with these texts, whose words are found as the server finds them. */
async function storeOf(store: Store, texts: readonly string[]): Promise<string> {
  const files: string[] = [];
  for (const index of texts.keys()) files.push(await upload(store, `${index}.txt`));
  const added = await store.vectorStores.createStore(
    OURS,
    { name: "", description: null, metadata: {}, expiresAfterDays: null },
    files.map((fileId) => ({ fileId, attributes: null, chunking: CHUNKING })),
  );
  for (const text of texts) {
    const task = await store.ingestQueue.claim();
    if (task === null) throw new Error("no file waits");
    await store.ingestQueue.addChunks(task, [chunkOf(text)], null);
    await store.ingestQueue.finish(task, { type: "completed" });
  }
  return added.type === "added" ? added.result.id : "";
}

function chunkOf(text: string): IndexedChunk {
  return {
    ordinal: 0,
    text,
    start: 0,
    end: text.length,
    headings: [],
    columns: null,
    words: [...wordsOf(text, ENGLISH)],
    language: "eng",
    vector: null,
  };
}

function search(store: Store, ids: readonly string[], question: string) {
  return find(store, ids, [...new Set(wordsOf(question, ENGLISH))]);
}

/** The texts that were found and their scores. */
async function find(store: Store, storeIds: readonly string[], words: readonly string[]) {
  const scope = { owner: OURS, storeIds, filter: null };
  const found = await store.chunks.find(
    scope,
    [{ words: words.map((word) => [word]), stopWords: [], vectors: [] }],
    50,
    NEVER,
  );
  if (found.type !== "found") throw new Error(found.type);
  const texts = new Map(found.chunks.map(({ key, text }) => [key, text]));
  return (found.hits[0] ?? []).map(({ key, words: score }) => ({ text: texts.get(key) ?? "", words: score }));
}

/** The texts that have a word of the question, with the sum of what its words are worth there. */
function bm25(question: string): ReadonlyMap<string, number> {
  const all = TEXTS.map((text) => ({ text, words: [...wordsOf(text, ENGLISH)] }));
  const average = all.reduce((sum, { words }) => sum + words.length, 0) / all.length;
  const scores = new Map<string, number>();
  for (const word of new Set(wordsOf(question, ENGLISH))) {
    const having = all.filter(({ words }) => words.includes(word));
    const rarity = Math.log(1 + (all.length - having.length + 0.5) / (having.length + 0.5));
    for (const { text, words } of having) {
      const count = words.filter((one) => one === word).length;
      const worth = (rarity * (count * 3)) / (count + 2 * (0.1 + (0.9 * words.length) / average));
      scores.set(text, (scores.get(text) ?? 0) + worth);
    }
  }
  return scores;
}
