import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { familyPrefixes, prefixedModelName } from "./embeddings/prefixes.ts";
import { fuse } from "./fuse.ts";
import type { ChunkHit, FoundChunk } from "./ports/search.ts";

const ALL = { resultsMax: 10, scoreMin: 0, weights: null, order: "ranks" } as const;

function chunk(key: number, fields: Partial<FoundChunk> = {}): FoundChunk {
  const text = fields.text ?? `text ${key}`;
  const start = fields.start ?? key * 1_000;
  return {
    key,
    storeId: "vs_1",
    fileId: `file-${key}`,
    filename: `${key}.txt`,
    attributes: null,
    ordinal: key,
    headings: [],
    columns: null,
    ...fields,
    text,
    start,
    end: start + text.length,
  };
}

/** Its score by words is a sixteenth of its BM25 score. */
function hit(key: number, words: number, cosine: number | null = null, model = "any"): ChunkHit {
  return { key, words, coverage: Math.min(1, words / 16) ** 1.5, cosine, nearness: cosine, model };
}

function files(...found: Parameters<typeof fuse>): readonly string[] {
  return fuse(...found).map(({ fileId }) => fileId);
}

test("by words alone the best score comes first, and says how good it is", () => {
  verifies("vector-stores.search.score-scale");
  const passages = fuse([[hit(1, 4), hit(2, 12)]], [chunk(1), chunk(2)], ALL);
  expect(passages.map(({ fileId, score }) => [fileId, score.toFixed(4)])).toEqual([
    ["file-2", "0.7500"],
    ["file-1", "0.2500"],
  ]);
});

test("with both kinds, the score lies between the better one and their mean", () => {
  verifies("vector-stores.search.score-scale");
  const scoreOf = (words: number, cosine: number, weights: Parameters<typeof fuse>[2]["weights"] = null) =>
    fuse([[hit(1, words, cosine)]], [chunk(1)], { ...ALL, weights })[0]?.score;
  expect(scoreOf(0, 0.6)).toBeCloseTo(0.45);
  expect(scoreOf(8, 0.5)).toBeCloseTo(0.5);
  expect(scoreOf(16, -0.2)).toBeCloseTo(0.75);
  expect(scoreOf(16, 0.3, { words: 0, meaning: 1 })).toBeCloseTo(0.3);
  expect(scoreOf(16, 0.3, { words: 1, meaning: 0 })).toBeCloseTo(1);
});

test("a threshold between 0.3 and 0.5 parts answers from texts on other subjects, whose cosines are high too", () => {
  verifies("vector-stores.search.score-scale");
  const e5 = prefixedModelName("multilingual-e5-small-q4@0a", familyPrefixes("e5-small"));
  const scoreOf = (words: number, cosine: number, model: string) =>
    fuse([[hit(1, words, cosine, model)]], [chunk(1)], ALL)[0]?.score ?? 0;
  expect(scoreOf(0, 0.88, e5)).toBeCloseTo(0.6, 1);
  expect(scoreOf(8, 0.88, e5)).toBeCloseTo(0.72, 1);
  expect(scoreOf(0, 0.73, e5)).toBeLessThan(0.1);
  expect(scoreOf(0, 0.77, e5)).toBeLessThan(0.3);
  expect(scoreOf(0, 0.83, e5)).toBeGreaterThan(0.4);
  expect(scoreOf(0, 0.88, "text-embedding-3-small")).toBeCloseTo(0.66);
});

test("among equal scores, the ranks decide the order by score", () => {
  const hits = [hit(1, 20), hit(2, 30)];
  expect(files([hits], [chunk(1), chunk(2)], { ...ALL, order: "score" })).toEqual(["file-2", "file-1"]);
});

test("rows of a table follow the names of its columns", () => {
  const first = chunk(1, { fileId: "file-a", ordinal: 4, start: 10, text: "a,1\nb,2\n", columns: "name,sum" });
  const next = chunk(2, { fileId: "file-a", ordinal: 5, start: 14, text: "b,2\nc,3\n", columns: "name,sum" });
  const [passage] = fuse([[hit(1, 4), hit(2, 3)]], [first, next], ALL);
  expect(passage?.text).toBe("name,sum\na,1\nb,2\nc,3\n");
});

test("what is good by both kinds comes before what is best by one", () => {
  verifies("vector-stores.search.score-scale", "vector-stores.search.rankers");
  const hits = [hit(1, 9, 0.1), hit(2, 8, 0.8), hit(3, 0, 0.9), hit(4, 0, 0.5)];
  expect(
    files(
      [hits],
      [1, 2, 3, 4].map((key) => chunk(key)),
      ALL,
    )[0],
  ).toBe("file-2");
});

test("what is near to everything comes later by meaning, and its score stays that of its cosine", () => {
  const hits = [
    { ...hit(1, 0, 0.9), nearness: 0.4 },
    { ...hit(2, 0, 0.8), nearness: 0.5 },
  ];
  const passages = fuse([hits], [chunk(1), chunk(2)], { ...ALL, weights: { words: 0, meaning: 1 } });
  expect(passages.map(({ fileId, score }) => [fileId, score.toFixed(2)])).toEqual([
    ["file-2", "0.80"],
    ["file-1", "0.90"],
  ]);
});

test("weights decide which kind counts", () => {
  const hits = [hit(1, 9, 0.1), hit(2, 1, 0.9)];
  const chunks = [chunk(1), chunk(2)];
  expect(files([hits], chunks, { ...ALL, weights: { words: 1, meaning: 0 } })[0]).toBe("file-1");
  expect(files([hits], chunks, { ...ALL, weights: { words: 0, meaning: 1 } })[0]).toBe("file-2");
});

test("a chunk counts with the form of the question that it fits best", () => {
  const [passage] = fuse([[hit(1, 1)], [hit(1, 12)]], [chunk(1)], ALL);
  expect(passage?.score).toBeCloseTo(0.75);
});

test("a threshold leaves out what is less relevant", () => {
  const hits = [hit(1, 4), hit(2, 12)];
  expect(files([hits], [chunk(1), chunk(2)], { ...ALL, scoreMin: 0.6 })).toEqual(["file-2"]);
});

test("chunks that overlap in one file become one passage without the doubled text", () => {
  verifies("vector-stores.search.overlaps-are-joined");
  const one = chunk(1, { fileId: "file-a", ordinal: 0, start: 0, text: "abcdef" });
  const two = chunk(2, { fileId: "file-a", ordinal: 1, start: 3, text: "defghi" });
  const other = chunk(3, { fileId: "file-b", ordinal: 1, start: 3, text: "defghi" });
  const passages = fuse([[hit(1, 3), hit(2, 9), hit(3, 2)]], [one, two, other], ALL);
  expect(passages.map(({ fileId, text }) => [fileId, text])).toEqual([
    ["file-a", "abcdefghi"],
    ["file-b", "defghi"],
  ]);
});

test("no more passages than were asked for", () => {
  const keys = Array.from({ length: 20 }, (_, index) => index + 1);
  const hits = keys.map((key) => hit(key, key));
  expect(
    files(
      [hits],
      keys.map((key) => chunk(key)),
      { ...ALL, resultsMax: 3 },
    ),
  ).toEqual(["file-20", "file-19", "file-18"]);
});
