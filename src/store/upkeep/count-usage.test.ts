import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { StorageQuotaExceeded } from "../../responses-api/ports.ts";
import { openStore } from "../open-store.ts";
import { openTestStore, storeRun, temporaryFile } from "../store.fixture.ts";
import { OTHERS, OURS } from "../stored-shapes.fixture.ts";

test("the first start with a limit counts what is there, and further ones do not count it again", async () => {
  verifies("state.quota.per-owner");
  const file = temporaryFile();
  const before = await openStore({ file });
  await storeRun(before.events, "resp_1", { input: ["msg_1"], output: ["msg_2"] });
  await before.close();
  const database = new DatabaseSync(file);
  const sum =
    "select (select sum(octet_length(body)) from responses) + (select sum(octet_length(body)) from items) as bytes";
  const bytes = Number(database.prepare(sum).get()?.["bytes"]);
  database.close();
  for (let start = 0; start < 2; start++) {
    const { quota } = await openTestStore({ file, ownerBytesMax: bytes + 10 });
    await quota.requireRoom(OURS, 10);
    await expect(quota.requireRoom(OURS, 11)).rejects.toThrow(StorageQuotaExceeded);
    for (const other of OTHERS) await quota.requireRoom(other, bytes + 10);
  }
});
