import { DatabaseSync } from "node:sqlite";
import { StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { openStore } from "../../open-store.ts";
import {
  isPostgres,
  openTestStore,
  runSql,
  storeRun,
  temporaryFile,
  testStores,
  withDatabase,
} from "../../store.fixture.ts";
import { aResponse, OTHERS, OURS } from "../../stored-shapes.fixture.ts";

const CALL = {
  itemId: "mcp_1",
  callId: "call_1",
  name: "look",
  server: "bank",
  arguments: '{"at":"Zürich"}',
  effect: "may_have",
  approvalRequestId: null,
  turn: 1,
  attempts: [],
} as const;
const ITEM = {
  id: "mcp_1",
  type: "mcp_call",
  name: "look",
  server_label: "bank",
  arguments: CALL.arguments,
  output: "fünf",
  error: null,
  status: "completed",
  approval_request_id: null,
} as const;
const RESULT = {
  itemId: "mcp_1",
  item: ITEM,
  output: "fünf ".repeat(1000),
  parts: [{ type: "input_text", text: "a receipt" }],
  usage: null,
  outcome: "finished",
} as const;

/** The bytes that count for our owner. */
async function countedIn(file: string): Promise<number> {
  const { organization, project } = OURS;
  const tables = isPostgres() ? ["owner_usage", "owner_usage_changes"] : ["owner_usage"];
  let bytes = 0;
  for (const table of tables) {
    const [row] = await runSql(
      file,
      `select sum(bytes) as bytes from ${table} where organization = ? and project = ?`,
      organization,
      project,
    );
    bytes += Number(row?.["bytes"] ?? 0);
  }
  return bytes;
}

testStores("the first start with a limit counts what is there, and further ones do not count it again", async () => {
  verifies("state.quota.per-owner");
  const file = temporaryFile();
  const before = await openStore(await withDatabase({ file }));
  await storeRun(before.events, "resp_1", { input: ["msg_1"], output: ["msg_2"] });
  await before.close();
  const sum =
    "select (select sum(octet_length(body)) from responses) + (select sum(octet_length(body)) from items) as bytes";
  const [row] = await runSql(file, sum);
  const bytes = Number(row?.["bytes"]);
  for (let start = 0; start < 2; start++) {
    const { quota } = await openTestStore({ file, ownerBytesMax: bytes + 10 });
    await quota.requireRoom(OURS, 10);
    await expect(quota.requireRoom(OURS, 11)).rejects.toThrow(StorageQuotaExceeded);
    for (const other of OTHERS) await quota.requireRoom(other, bytes + 10);
  }
});

testStores(
  "what tools were asked and answered counts while it is stored, and is given back with its response",
  async () => {
    verifies("state.quota.per-owner");
    const file = temporaryFile();
    const store = await openTestStore({ file, ownerBytesMax: 1_000_000 });
    await store.events.open({ owner: OURS, response: aResponse("resp_1"), inputItems: [] }, []);
    const empty = await countedIn(file);
    await store.tools.begin(OURS, "resp_1", CALL);
    expect((await countedIn(file)) - empty).toBe(Buffer.byteLength(CALL.arguments));
    await store.tools.finish(OURS, "resp_1", RESULT, []);
    const texts = [CALL.arguments, RESULT.output, JSON.stringify(RESULT.parts), JSON.stringify(ITEM)];
    const bytes = Buffer.byteLength(texts.join(""));
    expect((await countedIn(file)) - empty).toBe(bytes);
    await expect(store.quota.requireRoom(OURS, 1_000_001 - bytes)).rejects.toThrow(StorageQuotaExceeded);
    const end = aResponse("resp_1", { status: "completed", completed_at: 1_760_000_009 });
    await store.events.close("resp_1", [], { response: end, outputItems: [ITEM] });
    await store.responses.deleteResponse(OURS, "resp_1");
    for (let cursor: string | null = ""; cursor !== null; cursor = (await store.erasure.eraseUnused(cursor)).next);
    expect(await countedIn(file)).toBe(0);
  },
);

test("a database that counted before there were tools counts their texts from the next start on", async () => {
  const file = temporaryFile();
  const before = await openStore({ file, ownerBytesMax: 1_000_000 });
  await before.tools.begin(OURS, "resp_1", CALL);
  await before.close();
  const database = new DatabaseSync(file);
  for (const end of ["added", "changed", "removed"]) database.exec(`drop trigger tool_exchanges_usage_${end}`);
  database.exec("delete from owner_usage");
  database.close();
  await openTestStore({ file, ownerBytesMax: 1_000_000 });
  expect(await countedIn(file)).toBe(Buffer.byteLength(CALL.arguments));
});
