import { StorageQuotaExceeded } from "@antiphon/domain/storage.ts";
import { expect } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { openTestStore, temporaryFile, testStores } from "../store.fixture.ts";
import { anItem, OURS } from "../stored-shapes.fixture.ts";

const NEVER = new AbortController().signal;
/** How many bytes each writer stores, how many writers there are, and how many of them there is room for. */
const BYTES = 1_000;
const WRITERS = 20;
const FITTING = 3;

async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(BYTES, "x");
}

/** Two servers of one database. */
async function openTwo() {
  const options = { file: temporaryFile(), ownerBytesMax: BYTES * FITTING + 500 };
  return [await openTestStore(options), await openTestStore(options)] as const;
}

/** Lets all write at once. Returns how many could. */
async function countWritten(write: (writer: number) => Promise<unknown>): Promise<number> {
  const ends = await Promise.allSettled(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  for (const end of ends) if (end.status === "rejected") expect(end.reason).toBeInstanceOf(StorageQuotaExceeded);
  return ends.filter(({ status }) => status === "fulfilled").length;
}

testStores("files that are uploaded at once to two servers fill the room of an owner and no more", async () => {
  verifies("state.quota.at-once");
  const stores = await openTwo();
  const file = { purpose: "user_data", filename: "a", mimeType: "text/plain", expiresAfter: null } as const;
  const written = await countWritten((writer) =>
    (writer % 2 === 0 ? stores[0] : stores[1]).files.createFile(OURS, { ...file, content: content() }),
  );
  expect(written).toBe(FITTING);
  const page = await stores[0].files.listFiles(OURS, { limit: 100, order: "asc", after: null, purpose: null });
  expect(page?.files.length).toBe(FITTING);
});

testStores("files that sandboxes store at once fill the room of an owner and no more", async () => {
  verifies("state.quota.at-once");
  const stores = await openTwo();
  const made = { name: "work", fileIds: [], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  const container = await stores[0].containers.createContainer(OURS, made);
  const id = container.type === "changed" ? container.result.id : "";
  let kept = 0;
  await countWritten(async (writer) => {
    const file = { path: `/mnt/data/${writer}`, content: content(), bytesMax: BYTES };
    const keeping = await stores[writer % 2 === 0 ? 0 : 1].sessionContainers.keep(OURS, id, file, NEVER);
    if (keeping.type === "kept") kept += 1;
    else expect(keeping).toEqual({ type: "full", of: "owner" });
  });
  expect(kept).toBe(FITTING);
});

testStores("conversations that are created at once fill the room of an owner and no more", async () => {
  verifies("state.quota.at-once");
  const [{ conversations }] = await openTwo();
  const written = await countWritten(async (writer) => {
    const conversation = { id: `conv_${writer}`, object: "conversation", created_at: 1, metadata: {} } as const;
    await conversations.createConversation(OURS, conversation, [anItem(`msg_${writer}`, "x".repeat(BYTES))]);
  });
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThanOrEqual(FITTING);
});
