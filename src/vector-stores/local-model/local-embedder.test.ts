import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BroadcastChannel } from "node:worker_threads";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../tests/kit/temporary-folder.ts";
import { verifies } from "../../../tests/verifies.ts";
import { EmbeddingFailed } from "../ports/vectors.ts";
import { LocalEmbedder, type LocalEmbedderOptions } from "./local-embedder.ts";
import { tinyModel } from "./tiny-model.fixture.ts";

const GROUPS = [["car", "automobile"], ["fox"], ["poison"]];
const OBSERVED = new URL("./observed-worker.fixture.ts", import.meta.url);
const NEVER = new AbortController().signal;

function embedderOf(
  options: Partial<LocalEmbedderOptions> = {},
  content = tinyModel({ groups: GROUPS }),
): LocalEmbedder {
  const path = join(temporaryFolder(), "tiny.bin");
  writeFileSync(path, content);
  const prefixes = { question: "", passage: "" };
  const usual = {
    path,
    model: "tiny",
    dimensions: 32,
    prefixes,
    questionMs: 60_000,
    idleMs: 60_000,
    log: silentLogger,
  };
  return new LocalEmbedder({ ...usual, ...options });
}

/** Counts the threads that start until the test ends. */
function countStarts(): () => number {
  let starts = 0;
  const channel = new BroadcastChannel("starts of the embedding model's thread");
  channel.addEventListener("message", () => {
    starts += 1;
  });
  onTestFinished(() => channel.close());
  return () => starts;
}

test("vectors have unit length, and words of the same meaning the same vector", async () => {
  const embedder = embedderOf();
  const vectors = await embedder.embed("tiny", ["car", "automobile", "fox"], "passage", NEVER);
  for (const vector of vectors) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  const [car, automobile, fox] = vectors.map((vector) => [...vector]);
  expect(automobile).toEqual(car);
  expect(fox).not.toEqual(car);
});

test("the thread starts with the first text, ends when it is idle, and starts again", async () => {
  verifies("vector-stores.local-model.idle-ends");
  const starts = countStarts();
  const embedder = embedderOf({ idleMs: 1, threadUrl: OBSERVED });
  const startsAfterText = async (): Promise<number> => {
    await embedder.embed("tiny", ["fox"], "question", NEVER);
    return starts();
  };
  expect(starts()).toBe(0);
  await expect.poll(startsAfterText, { timeout: 20_000 }).toBeGreaterThan(2);
});

test("a thread that is not idle for long is used again", async () => {
  const starts = countStarts();
  const embedder = embedderOf({ threadUrl: OBSERVED });
  for (let round = 0; round < 5; round++) await embedder.embed("tiny", ["fox"], "question", NEVER);
  await expect.poll(starts).toBe(1);
});

test("a text that ends the thread fails alone, and the others get their vectors", async () => {
  verifies("vector-stores.local-model.crash");
  const embedder = embedderOf({ threadUrl: OBSERVED });
  const [good, bad, later] = await Promise.allSettled(
    [["fox", "car"], ["poison"], ["automobile"]].map((texts) => embedder.embed("tiny", texts, "passage", NEVER)),
  );
  expect(good).toMatchObject({ status: "fulfilled" });
  expect(bad).toMatchObject({
    status: "rejected",
    reason: { message: "The embedding model failed.", dependsOnTexts: true },
  });
  expect(later).toMatchObject({ status: "fulfilled" });
});

test("questions overtake passages that wait, and a cancelled call leaves the line", async () => {
  const embedder = embedderOf();
  const order: string[] = [];
  const cancelling = new AbortController();
  const passages = embedder.embed(
    "tiny",
    Array.from({ length: 500 }, () => "fox ".repeat(50)),
    "passage",
    cancelling.signal,
  );
  const ended = passages.then(
    () => order.push("passages"),
    () => order.push("cancelled"),
  );
  await embedder.embed("tiny", ["car"], "question", NEVER).then(() => order.push("question"));
  cancelling.abort(new Error("enough"));
  await expect(passages).rejects.toThrow("enough");
  await ended;
  expect(order).toEqual(["question", "cancelled"]);
  await expect(embedder.embed("tiny", ["car"], "passage", NEVER)).resolves.toHaveLength(1);
});

test("too many texts, another model's vectors and an unusable file are clear errors", async () => {
  verifies("vector-stores.local-model.bounds");
  const embedder = embedderOf();
  const many = embedder.embed(
    "tiny",
    Array.from({ length: 8193 }, () => "fox"),
    "passage",
    NEVER,
  );
  await expect(many).rejects.toThrow("Too many texts wait for the embedding model.");
  await expect(embedder.embed("other", ["fox"], "question", NEVER)).rejects.toThrow("of another embedding model");
  const broken = embedderOf({}, tinyModel({ groups: GROUPS }).subarray(0, 4000));
  const failure = broken.embed("tiny", ["fox"], "question", NEVER);
  await expect(failure).rejects.toThrow("The file of the embedding model is cut short.");
  await expect(failure).rejects.toBeInstanceOf(EmbeddingFailed);
});
