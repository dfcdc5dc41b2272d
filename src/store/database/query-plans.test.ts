import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { claimUnmade } from "../claim-unmade.fixture.ts";
import { assembleStore, databaseOptions, type Store } from "../open-store.ts";
import { SqliteOwner } from "../owner/thread/sqlite-owner.ts";
import { freePlace, takePlace } from "../owner/workers/own-workers.ts";
import { readAll, storeRun, temporaryFile } from "../store.fixture.ts";
import { anItem, aResponse, OURS } from "../stored-shapes.fixture.ts";

/** Reading one of these tables from end to end. Indexes of few rows may be read whole. */
const READS_ALL =
  /^SCAN (responses|items|event_chunks|ancestors|conversation_items|link|later|containers|container_files)\b(?!.* INDEX (ancestors_unused|live_responses|containers_to_empty|held_container_files)\b)/;

test("no query of the store reads a whole table of responses, items or events", async () => {
  const options = { file: temporaryFile(), commitIntervalMs: 0 };
  const own = takePlace();
  const owner = await SqliteOwner.open(databaseOptions(options), own); // In this thread, where it can be watched.
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  const store = await assembleStore(owner, options);
  await useStore(store);
  const queries = new Set(prepare.mock.calls.map(([query]) => query));
  prepare.mockRestore();
  await store.close();
  freePlace(own);

  const database = new DatabaseSync(options.file);
  const isExplained = (query: string) => /^\s*(select|insert|update|delete|with)\b/.test(query);
  const plansOf = (query: string) => database.prepare(`explain query plan ${query}`).all();
  const slow = [...queries].filter(isExplained).flatMap((query) =>
    plansOf(query)
      .map((row) => String(row["detail"]))
      .filter((detail) => READS_ALL.test(detail))
      .map((detail) => ({ query, detail })),
  );
  expect(slow).toEqual([]);
  expect(queries.size).toBeGreaterThan(50);
  database.close();
});

/** Does everything that responses, conversations, containers and their upkeep do. */
async function useStore(store: Store): Promise<void> {
  const { responses, conversations, events, ledger, expiry, erasure } = store;
  const conversation = { id: "conv_1", object: "conversation", created_at: 1_760_000_000, metadata: {} } as const;
  await conversations.createConversation(OURS, conversation, [anItem("msg_a"), anItem("msg_b")]);
  await conversations.lock(OURS, "conv_1", "resp_1");
  const first = aResponse("resp_1", { conversation: { id: "conv_1" } });
  await events.open({ owner: OURS, response: first, inputItems: [anItem("msg_1")], task: "{}" }, []);
  await events.advance("resp_1", [], first);
  await events.close("resp_1", [], { response: { ...first, status: "completed" }, outputItems: [anItem("msg_2")] });
  await storeRun(events, "resp_2", { previous: "resp_1", input: ["msg_3"], output: ["msg_4"] });
  await storeRun(events, "resp_3", { previous: "resp_2", input: ["msg_5"] });
  const input = { after: null, before: null, history: false, order: "asc", limit: 1 } as const;
  await responses.listInputItems(OURS, "resp_3", input);
  await responses.listInputItems(OURS, "resp_3", { ...input, after: "msg_5", order: "desc" });
  await responses.listInputItems(OURS, "resp_3", { ...input, history: true });
  await responses.loadChain(OURS, "resp_3");
  await responses.findItems(OURS, ["msg_1", "msg_a"]);
  await responses.findOutputs(OURS, ["msg_1", "msg_a"]);
  await readAll(events, "resp_3");
  await conversations.listItems(OURS, "conv_1", { after: "msg_a", order: "asc", limit: 1 });
  await conversations.loadItems(OURS, "conv_1");
  await conversations.findItem(OURS, "conv_1", "msg_a");
  await conversations.addItems(OURS, "conv_1", [anItem("msg_c")]);
  await conversations.deleteItem(OURS, "conv_1", "msg_c");

  await events.open({ owner: OURS, response: aResponse("resp_4"), inputItems: [], task: "{}" }, []);
  await ledger.listHeld();
  await ledger.countRestart("resp_4", 0);
  await ledger.requestStop("resp_4");
  await ledger.requestPause("resp_4");
  await ledger.listRequests();
  await ledger.stopPaused(1);
  await ledger.requestResume("resp_4");
  await ledger.release("resp_4", { hadBegun: true });
  await claimUnmade(ledger, 10);
  await readAll(events, "resp_4");

  await responses.deleteResponse(OURS, "resp_2"); // Becomes an ancestor.
  await responses.loadChain(OURS, "resp_3");
  await responses.deleteResponse(OURS, "resp_3");
  await expiry.deleteExpired(1_800_000_000, null);
  await expiry.deleteExpired(1_800_000_000, { createdAt: 1_700_000_000, number: 1 });
  await conversations.deleteConversation(OURS, "conv_1");
  for (let step = 0; step < 4; step++) await erasure.eraseUnused("");
  await useContainers(store);
}

async function useContainers({ containers, sessionContainers }: Store): Promise<void> {
  const page = { limit: 1, order: "asc", after: null } as const;
  const container = { name: "a", fileIds: [], expiresAfterMinutes: 1, memoryLimit: "1g" } as const;
  const { signal } = new AbortController();
  for (const name of ["b", "c"]) {
    const created = await containers.createContainer(OURS, { ...container, name });
    const id = created.type === "changed" ? created.result.id : "";
    for (const path of ["/mnt/data/a", "/mnt/data/b", "/mnt/data/a"])
      await sessionContainers.keep(OURS, id, { path, content: bytes(), bytesMax: 10 }, signal);
    const first = (await containers.listFiles(OURS, id, page))?.entries[0]?.id ?? "";
    await containers.listFiles(OURS, id, { ...page, after: first });
    await containers.streamFile(OURS, id, first);
    await containers.removeFile(OURS, id, first);
    await containers.copyMissingUploads(OURS, id, ["file-1"]);
    await sessionContainers.find(OURS, id);
    await sessionContainers.begin(OURS, id, "session");
    await containers.touchContainer(OURS, id);
    await containers.listContainers(OURS, { ...page, name: null, after: id });
    await containers.listContainers(OURS, { ...page, name: "b" });
    if (name === "b") await containers.deleteContainer(OURS, id);
  }
  while (await containers.expireUnused(Math.floor(Date.now() / 1000) + 7 * 86_400));
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("a");
}
