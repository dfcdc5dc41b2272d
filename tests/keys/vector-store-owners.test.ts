import { expect, test } from "vitest";
import { query } from "../kit/tested-store.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import { startWithTwoOwners } from "./two-owners.ts";

const UNKNOWN = `vs_${"0".repeat(50)}`;

test("stores, files and batches of another owner are as unknown as those that never were", async () => {
  verifies("vector-stores.owner.foreign-is-unknown");
  const { server, ours, theirs } = await startWithTwoOwners();
  const fileId = await upload(server, "a.txt", "The fox jumps.");
  const storeId = await createStore(server, []);
  const made = await ours.ask("POST", `/v1/vector_stores/${storeId}/file_batches`, { file_ids: [fileId] });
  const { id: batchId } = await made.json();
  await takenIn(server, storeId);
  // As if it was last used long ago, so that each use would show.
  await query(server.dataDir, "update vector_stores set last_active_at = 1");
  const before = JSON.stringify(await takenIn(server, storeId));
  const own = await (await theirs.ask("POST", "/v1/vector_stores", {})).json();
  const callsOn = (store: string): readonly (readonly [string, string, unknown?])[] => [
    ["GET", `/${store}`],
    ["POST", `/${store}`, { name: "Mine" }],
    ["POST", `/${store}/search`, { query: "fox" }],
    ["GET", `/${store}/files`],
    ["POST", `/${store}/files`, { file_id: fileId }],
    ["GET", `/${store}/files/${fileId}`],
    ["POST", `/${store}/files/${fileId}`, { attributes: { a: 1 } }],
    ["GET", `/${store}/files/${fileId}/content`],
    ["POST", `/${store}/file_batches`, { file_ids: [fileId] }],
    ["GET", `/${store}/file_batches/${batchId}`],
    ["POST", `/${store}/file_batches/${batchId}/cancel`, {}],
    ["GET", `/${store}/file_batches/${batchId}/files`],
    ["DELETE", `/${store}/files/${fileId}`],
    ["DELETE", `/${store}`],
  ];
  const answers = async (store: string) => {
    const all: unknown[] = [];
    for (const [method, path, body] of callsOn(store)) {
      const reply = await theirs.ask(method, `/v1/vector_stores${path}`, body);
      all.push([method, path.replace(store, "STORE"), reply.status, (await reply.text()).replaceAll(store, "STORE")]);
      expect(reply.status, path).toBe(404);
    }
    return all;
  };
  expect(await answers(storeId)).toEqual(await answers(UNKNOWN));
  // Their own store does not take our file either, at any entrance.
  const stolen = { file_ids: [fileId] };
  for (const [path, body] of [
    ["", stolen],
    [`/${own.id}/files`, { file_id: fileId }],
    [`/${own.id}/file_batches`, stolen],
    [`/${own.id}/file_batches`, { files: [{ file_id: fileId }] }],
  ] as const)
    expect((await theirs.ask("POST", `/v1/vector_stores${path}`, body)).status, path).toBe(404);
  for (const path of [`files/${fileId}`, `files/${fileId}/content`, `file_batches/${batchId}`])
    expect((await theirs.ask("GET", `/v1/vector_stores/${own.id}/${path}`)).status, path).toBe(404);
  expect((await (await theirs.ask("GET", "/v1/vector_stores")).json()).data.length).toBe(1);
  expect((await theirs.ask("GET", `/v1/vector_stores?after=${storeId}`)).status).not.toBe(200);
  expect(JSON.stringify(await takenIn(server, storeId))).toBe(before);
  await server.close();
});
