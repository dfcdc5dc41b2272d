import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { hangingEmbeddings } from "../vector-stores/hanging-embeddings.ts";
import { createStore, search, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import { startProcesses, TEST_TIMEOUT_MS } from "./several-processes.ts";

const FILES = 24;
const ENDED = "file ingestion ended";

test("files are taken in once, whichever process got them", { timeout: TEST_TIMEOUT_MS }, async () => {
  verifies("vector-stores.files.polling-ends");
  const server = await startProcesses(2);
  const ids: string[] = [];
  for (let file = 0; file < FILES; file++) ids.push(await upload(server, `${file}.txt`, `Note ${file} on foxes.`));
  const storeId = await createStore(server, []);
  const added = await Promise.all(ids.map((file_id) => server.post(`/v1/vector_stores/${storeId}/files`, { file_id })));
  expect(added.map(({ status }) => status)).toEqual(ids.map(() => 200));
  expect((await takenIn(server, storeId)).file_counts).toMatchObject({ completed: FILES, total: FILES });
  const ends = () => server.lines().filter(({ msg }) => msg === ENDED);
  await expect.poll(() => ends().length, { timeout: 20_000 }).toBe(FILES); // A process writes its lines when it can.
  expect(ends().map((line) => line["outcome"])).toEqual(ids.map(() => "completed"));
  expect(new Set(ends().map((line) => line["fileId"]))).toEqual(new Set(ids));
  expect(await search(server, storeId, "17")).toHaveLength(1);
  expect(await server.stop()).toBe(0);
});

test("another process takes in what a killed one had begun", { timeout: TEST_TIMEOUT_MS }, async () => {
  const folder = temporaryFolder();
  const embeddings = await hangingEmbeddings("slow fox");
  const server = await startProcesses(2, {
    env: { ...embeddings.env, DATA_DIR: folder },
  });
  const before = server.pids();
  const storeId = await createStore(server, [await upload(server, "a.txt", "The slow fox.")]);
  await expect.poll(embeddings.marked, { timeout: 20_000 }).toBe(1);
  const [held] = await query(
    folder,
    "select pid from workers where id = (select worker from vector_store_files where status = 'in_progress')",
  );
  const victim = Number(held?.["pid"]);
  expect(before).toContain(victim);
  process.kill(victim, "SIGKILL");
  await expect.poll(() => server.pids().filter((pid) => !before.includes(pid)).length).toBe(1);
  expect((await takenIn(server, storeId)).file_counts).toMatchObject({ completed: 1, total: 1 });
  expect(embeddings.marked()).toBe(2);
  expect(await search(server, storeId, "fox")).toHaveLength(1);
});
