import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tinyModel } from "../../src/vector-stores/local-model/tiny-model.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { createStore, search, takeIn, takenIn, upload } from "./store-client.ts";

const GROUPS = [
  ["car", "automobile"],
  ["fox", "vulpine"],
  ["boat", "vessel"],
];

function modelFile(seed: number): string {
  const path = join(temporaryFolder(), "model.bin");
  writeFileSync(path, tinyModel({ groups: GROUPS, seed }));
  return path;
}

test("with a model file, questions find passages that share no word with them", async () => {
  verifies("vector-stores.local-model.finds-meaning");
  const server = await startTestServer({ env: { EMBEDDING_FILE: modelFile(1) } });
  const ids = await Promise.all(["car", "fox", "boat"].map((word) => upload(server, `${word}.txt`, word)));
  const storeId = await createStore(server, ids);
  await takenIn(server, storeId);
  for (const [question, filename] of [
    ["automobile", "car.txt"],
    ["vulpine", "fox.txt"],
    ["vessel", "boat.txt"],
  ] as const)
    expect((await search(server, storeId, question))[0]?.filename).toBe(filename);
});

test("a file that was stored by words, or with another model file, gets vectors in the background", async () => {
  verifies("vector-stores.local-model.finds-meaning");
  const common = { DATA_DIR: temporaryFolder(), API_KEYS: "a-key-of-the-test" };
  const plain = await startTestServer({ env: { ...common, EMBEDDING_FILE: "none" } });
  const { storeId } = await takeIn(plain, "car.txt", "car");
  expect(await search(plain, storeId, "automobile")).toEqual([]);
  await plain.close();
  for (const seed of [1, 2]) {
    const server = await startTestServer({ env: { ...common, EMBEDDING_FILE: modelFile(seed) } });
    await expect.poll(async () => (await search(server, storeId, "automobile")).length, { timeout: 20_000 }).toBe(1);
    await server.close();
  }
});

test("a model file that is missing or unusable stops the start with a reason", async () => {
  verifies("vector-stores.local-model.unusable-file");
  const path = join(temporaryFolder(), "model.bin");
  await expect(startTestServer({ env: { EMBEDDING_FILE: path } })).rejects.toThrow("where no file is");
  writeFileSync(path, "no model at all");
  await expect(startTestServer({ env: { EMBEDDING_FILE: path } })).rejects.toThrow("is no model in the format E5S1");
});
