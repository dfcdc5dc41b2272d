import type { FileSearchFilter } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import type { ChunkQuestion, ChunksFound } from "../../../vector-stores/ports/search.ts";
import type { Store } from "../../open-store.ts";
import { openTestStore, testStores } from "../../store.fixture.ts";
import { OURS } from "../../stored-shapes.fixture.ts";
import { storeWith } from "./taken-in.fixture.ts";

const THEIRS = { organization: "other", project: "other" };
const MODEL = { name: "test", dimensions: 2 };
const NEVER = new AbortController().signal;

function words(...list: readonly string[]): ChunkQuestion {
  return { words: list.map((word) => [word]), stopWords: [], vectors: [] };
}

function find(
  store: Store,
  storeIds: readonly string[],
  question: ChunkQuestion,
  filter: FileSearchFilter | null = null,
): Promise<ChunksFound> {
  return store.chunks.find({ owner: OURS, storeIds, filter }, [question], 10, NEVER);
}

/** The names of the files that were found, the best by words first. */
async function namesFound(...asked: Parameters<typeof find>): Promise<readonly string[]> {
  const found = await find(...asked);
  if (found.type !== "found") return [found.type];
  const byKey = new Map(found.chunks.map((chunk) => [chunk.key, chunk.filename]));
  const hits = (found.hits[0] ?? []).toSorted((one, other) => other.words - one.words || one.key - other.key);
  return hits.map(({ key }) => byKey.get(key) ?? "");
}

testStores("rare words count more than common ones, and repeated ones more than single ones", async () => {
  const store = await openTestStore();
  const id = await storeWith(store, [
    { texts: ["the tide rises with the moon"] },
    { texts: ["the the the moon"] },
    { texts: ["the tide and the tide and the tide"] },
    { texts: ["the sun"] },
  ]);
  expect(await namesFound(store, [id], words("the", "tide"))).toEqual(["2.txt", "0.txt", "1.txt", "3.txt"]);
  expect(await namesFound(store, [id], words("nothing"))).toEqual([]);
  expect(await namesFound(store, [id], words())).toEqual([]);
});

testStores("scores depend on nothing that others have stored", async () => {
  const store = await openTestStore();
  const files = [{ texts: ["zeus and hera", "hera"] }, { texts: ["apollo"] }];
  const id = await storeWith(store, files);
  const before = await find(store, [id], words("zeus", "hera"));
  await storeWith(store, [{ texts: ["zeus zeus zeus", "zeus"] }], { owner: THEIRS });
  await storeWith(store, [{ texts: ["zeus"] }]);
  expect(await find(store, [id], words("zeus", "hera"))).toEqual(before);
  const asThem = { owner: THEIRS, storeIds: [id], filter: null };
  expect(await store.chunks.find(asThem, [words("zeus")], 10, NEVER)).toEqual({ type: "unknown_store", storeId: id });
});

testStores("several stores are searched as one", async () => {
  const store = await openTestStore();
  const ids = [
    await storeWith(store, [{ texts: ["tide"] }]),
    await storeWith(store, [{ texts: ["tide tide", "sun"] }]),
  ];
  expect(await namesFound(store, ids, words("tide"))).toHaveLength(2);
  expect(await namesFound(store, [...ids, "vs_unknown"], words("tide"))).toEqual(["unknown_store"]);
});

testStores("by meaning the nearest chunks are found, with their true cosines", async () => {
  const store = await openTestStore();
  const id = await storeWith(
    store,
    [
      {
        texts: ["east", "north"],
        vectors: [
          [1, 0],
          [0, 1],
        ],
      },
      { texts: ["between"], vectors: [[0.6, 0.8]] },
    ],
    { model: MODEL },
  );
  expect(await store.chunks.modelsOf({ owner: OURS, storeIds: [id] })).toEqual([MODEL]);
  const vectors = [{ model: MODEL, vector: Float32Array.from([1, 0]), commonShare: 0 }];
  const found = await find(store, [id], { words: [["north"]], stopWords: [], vectors });
  expect(found.type).toBe("found");
  if (found.type !== "found") return;
  const texts = new Map(found.chunks.map(({ key, text }) => [key, text]));
  const hits = (found.hits[0] ?? []).map(({ key, words: score, cosine }) => [texts.get(key), score > 0, cosine]);
  expect(new Set(hits)).toEqual(
    new Set([
      ["east", false, 1],
      ["north", true, 0],
      ["between", false, Math.fround(0.6)],
    ]),
  );
});

testStores("a file that is not taken in to its end is not found, and neither is a removed one", async () => {
  const store = await openTestStore();
  const id = await storeWith(store, [{ texts: ["tide"] }, { texts: ["tide"] }]);
  const [file] =
    (
      await store.vectorStores.listFiles(OURS, id, {
        limit: 1,
        order: "asc",
        after: null,
        before: null,
        status: null,
        batchId: null,
      })
    )?.entries ?? [];
  await store.vectorStores.removeFile(OURS, id, file?.id ?? "");
  expect(await namesFound(store, [id], words("tide"))).toEqual(["1.txt"]);
  await store.vectorStores.addFile(OURS, id, {
    fileId: file?.id ?? "",
    attributes: null,
    chunking: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 0 },
  });
  expect(await namesFound(store, [id], words("tide"))).toEqual(["1.txt"]);
  expect(await store.vectorStores.expireUnused(0)).toBe(true);
  expect(await namesFound(store, [id], words("tide"))).toEqual(["1.txt"]);
});

const ATTRIBUTES = [{ year: 2024, lang: "en", ok: true }, { year: 2025, lang: "de", ok: false }, { year: "2025" }, {}];

const FILTERS: readonly (readonly [FileSearchFilter, readonly number[]])[] = [
  [{ type: "eq", key: "year", value: 2025 }, [1]],
  [{ type: "eq", key: "year", value: "2025" }, [2]],
  [{ type: "ne", key: "year", value: 2025 }, [0, 2, 3]],
  [{ type: "gt", key: "year", value: 2024 }, [1]],
  [{ type: "gte", key: "year", value: 2024 }, [0, 1]],
  [{ type: "lt", key: "year", value: 2025 }, [0]],
  [{ type: "lte", key: "lang", value: "de" }, [1]],
  [{ type: "eq", key: "ok", value: true }, [0]],
  [{ type: "eq", key: "ok", value: 1 }, []],
  [{ type: "in", key: "lang", value: ["en", "fr"] }, [0]],
  [{ type: "nin", key: "lang", value: ["en", "fr"] }, [1, 2, 3]],
  [
    {
      type: "and",
      filters: [
        { type: "gte", key: "year", value: 2024 },
        { type: "eq", key: "lang", value: "de" },
      ],
    },
    [1],
  ],
  [
    {
      type: "or",
      filters: [
        { type: "eq", key: "lang", value: "en" },
        { type: "eq", key: "year", value: "2025" },
      ],
    },
    [0, 2],
  ],
  [{ type: "and", filters: [] }, [0, 1, 2, 3]],
  [{ type: "eq", key: `lang" or 1=1 --`, value: "en" }, []],
  [{ type: "eq", key: "lang", value: "en' or '1'='1" }, []],
];

testStores.each(FILTERS.map(([filter, places]) => ({ filter, places })))(
  "the filter $filter",
  async ({ filter, places }) => {
    const store = await openTestStore();
    const id = await storeWith(
      store,
      ATTRIBUTES.map((attributes) => ({ texts: ["tide"], attributes })),
    );
    expect(await namesFound(store, [id], words("tide"), filter)).toEqual(places.map((place) => `${place}.txt`));
  },
);

testStores("a search that nobody waits for any more rejects with the reason", async () => {
  const store = await openTestStore();
  const id = await storeWith(store, [{ texts: ["tide"] }]);
  const reason = new Error("gone");
  const scope = { owner: OURS, storeIds: [id], filter: null };
  await expect(store.chunks.find(scope, [words("tide")], 10, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("a database in memory is searched too", async () => {
  const store = await openTestStore({ file: ":memory:" });
  const id = await storeWith(store, [{ texts: ["tide"] }, { texts: ["moon"] }]);
  expect(await namesFound(store, [id], words("moon"))).toEqual(["1.txt"]);
});

testStores("a word is found in any of its forms, and counts as one word", async () => {
  const store = await openTestStore();
  const id = await storeWith(store, [
    { texts: ["haus"], language: "deu" },
    { texts: ["house house", "tree"] },
    { texts: ["haus house tree tree tree"], language: "fra" },
  ]);
  expect(await store.chunks.languagesOf({ owner: OURS, storeIds: [id, "vs_unknown"] })).toEqual(["deu", "eng", "fra"]);
  expect(await store.chunks.languagesOf({ owner: THEIRS, storeIds: [id] })).toEqual([]);
  const found = await find(store, [id], {
    words: [["haus", "house"], ["tree"], ["unknown"]],
    stopWords: [],
    vectors: [],
  });
  if (found.type !== "found") throw new Error(found.type);
  const texts = new Map(found.chunks.map(({ key, text }) => [key, text]));
  const coverages = new Map((found.hits[0] ?? []).map(({ key, coverage }) => [texts.get(key), coverage]));
  const weight = (chunks: number): number => Math.log(1 + (1_000 - chunks + 0.5) / (chunks + 0.5));
  const whole = weight(3) + weight(2) + weight(0);
  const share = (count: number, length: number): number => {
    const damped = (count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / 2.25));
    return damped / (damped + 0.25);
  };
  expect(coverages.get("haus")).toBeCloseTo((weight(3) * share(1, 1)) / whole, 10);
  expect(coverages.get("house house")).toBeCloseTo((weight(3) * share(2, 2)) / whole, 10);
  const both = weight(3) * share(2, 5) + weight(2) * share(3, 5);
  expect(coverages.get("haus house tree tree tree")).toBeCloseTo(both / whole, 10);
});

testStores("a chunk covers as much of a question in a large store as in a small one", async () => {
  const store = await openTestStore();
  const asked = words("heron", "hunt", "fish");
  const text = "the heron waits for fish";
  const small = await storeWith(store, [{ texts: [text] }]);
  const large = await storeWith(store, [
    {
      texts: [
        text,
        ...Array.from({ length: 600 }, (_, index) =>
          index % 20 === 0 ? "all the fish swim away" : "a note from the day",
        ),
      ],
    },
  ]);
  const coverageIn = async (id: string): Promise<number> => {
    const found = await find(store, [id], asked);
    return found.type === "found" ? Math.max(...(found.hits[0] ?? []).map(({ coverage }) => coverage)) : 0;
  };
  const ofSmall = await coverageIn(small);
  const ofLarge = await coverageIn(large);
  expect(ofSmall).toBeGreaterThan(0.5);
  expect(Math.abs(ofSmall - ofLarge)).toBeLessThan(0.1);
});

testStores("stop words count less than others, and cover nothing", async () => {
  const store = await openTestStore();
  const id = await storeWith(store, [
    { texts: ["heron by water"] },
    { texts: ["heron in water"] },
    { texts: ["in town", "on top"] },
  ]);
  const question = { words: [["heron"]], stopWords: [["in"], ["on"]], vectors: [] };
  expect(await namesFound(store, [id], question)).toEqual(["1.txt", "0.txt", "2.txt", "2.txt"]);
  const found = await find(store, [id], question);
  const coverages = found.type === "found" ? (found.hits[0] ?? []).map(({ coverage }) => coverage) : [];
  expect(coverages.filter((coverage) => coverage === 0)).toHaveLength(2);
});
