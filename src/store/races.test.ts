import { ApprovalSpent } from "@antiphon/domain/tool-ledger.ts";
import { expect } from "vitest";
import type { AbandonedRun } from "../runs/ports/run-ledger.ts";
import { RunLost, StoreBusy } from "../runs/ports/store-faults.ts";
import { claimUnmade } from "./claim-unmade.fixture.ts";
import type { Store } from "./open-store.ts";
import {
  numbersFrom,
  openTestStore,
  readNumbers,
  runSql,
  storeRun,
  temporaryFile,
  testStores,
} from "./store.fixture.ts";
import { aKey, anItem, aResponse, OURS } from "./stored-shapes.fixture.ts";
import { textEvents } from "./stores/runs/text-events.fixture.ts";

/** What several servers do to one database at the same moment, each through a store of its own. */
const NODES = 3;
const ROUNDS = 10;

async function severalNodes() {
  const file = temporaryFile();
  const nodes: Store[] = [];
  for (let node = 0; node < NODES; node += 1) nodes.push(await openTestStore({ file }));
  const onAll = <Result>(act: (node: Store, index: number) => Promise<Result>): Promise<Result[]> =>
    Promise.all(nodes.map(act));
  const [first, second, third] = nodes;
  if (first === undefined || second === undefined || third === undefined) throw new Error("nodes are missing");
  return { file, nodes, onAll, first, second, third };
}

async function eraseAll({ erasure }: Store): Promise<void> {
  for (let cursor: string | null = ""; cursor !== null; ) cursor = (await erasure.eraseUnused(cursor)).next;
}

function conversation(id: string) {
  return { id, object: "conversation", created_at: 1_760_000_000, metadata: {} } as const;
}

async function itemsOf(store: Store, id: string): Promise<readonly string[]> {
  return (await store.conversations.loadItems(OURS, id))?.items.map(({ id: itemId }) => itemId) ?? [];
}

testStores("a run that nobody makes is claimed by one of several servers that claim at once", async () => {
  const { first, onAll } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = numbersFrom(1, 5).map((run) => `resp_${round}_${run}`);
    for (const id of ids) {
      await first.events.open({ owner: OURS, response: aResponse(id), inputItems: [], task: "{}" }, []);
      await first.ledger.release(id, { hadBegun: true });
    }
    const claimed = await onAll((node) => claimUnmade(node.ledger, 3));
    const names = claimed.flat().map(({ response }) => response.id);
    expect(new Set(names).size).toBe(names.length);
    const rest = await onAll((node) => claimUnmade(node.ledger, 10));
    expect([...names, ...rest.flat().map(({ response }) => response.id)].toSorted()).toEqual(ids);
    await onAll(async (node, index) => {
      const own = [...(claimed[index] ?? []), ...(rest[index] ?? [])];
      for (const { response } of own) {
        const failed = aResponse(response.id, { status: "failed" });
        await node.events.close(response.id, textEvents(0, 1), { response: failed, outputItems: [] });
      }
    });
  }
});

testStores("the runs of a dead server are claimed once, with all of their events", async () => {
  const { file, first, second, third } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = numbersFrom(1, 4).map((run) => `resp_${round}_${run}`);
    for (const id of ids) {
      await first.events.open({ owner: OURS, response: aResponse(id), inputItems: [], task: "{}" }, []);
      await first.events.append(id, textEvents(0, 5));
    }
    const late = ids.map((id) => first.events.append(id, textEvents(5, 1)).catch(ignoreLoss));
    const [row] = await runSql(file, "select min(worker) as worker from responses where worker is not null");
    const dying = Number(row?.["worker"]);
    const claimed: AbandonedRun[][] = [[], []];
    // A server that is writing is not dead yet, and one may have renewed its lease just now.
    while (claimed.flat().length < ids.length) {
      await runSql(file, "update workers set expires_at = 0 where id = ?", dying);
      const more = await Promise.all([claimUnmade(second.ledger, 10), claimUnmade(third.ledger, 10)]);
      for (const [index, runs] of more.entries()) claimed[index]?.push(...runs);
    }
    await Promise.all(late);
    const names = claimed.flat().map(({ response }) => response.id);
    expect(names.toSorted()).toEqual(ids);
    for (const [index, node] of [second, third].entries())
      for (const { response } of claimed[index] ?? []) {
        const stored = (await readNumbers(node.events, response.id)).length;
        expect(stored).toBeGreaterThanOrEqual(5);
        const failed = aResponse(response.id, { status: "failed" });
        await node.events.close(response.id, textEvents(stored, 1), { response: failed, outputItems: [] });
        expect(await readNumbers(first.events, response.id)).toEqual(numbersFrom(0, stored));
      }
    await first.ledger.renewLease();
  }
});

testStores("a server that registers is not taken for dead by others that claim at that moment", async () => {
  const { file, first, nodes } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    let isOver = false;
    const claiming = nodes.map(async ({ ledger }) => {
      while (!isOver) await claimUnmade(ledger, 10);
    });
    const fresh = await openTestStore({ file });
    await storeRun(fresh.events, `resp_${round}`, { eventCount: 3 }).finally(() => (isOver = true));
    await Promise.all(claiming);
    expect(await readNumbers(first.events, `resp_${round}`)).toEqual([0, 1, 2]);
  }
});

function ignoreLoss(error: unknown): void {
  if (!(error instanceof RunLost)) throw error;
}

testStores("of several servers that want a conversation at once one gets it", async () => {
  const { first, onAll } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = `conv_${round}`;
    await first.conversations.createConversation(OURS, conversation(id), []);
    const refusals = await onAll((node, index) => node.conversations.lock(OURS, id, `resp_${round}_${index}`));
    expect(refusals.filter((refusal) => refusal === null)).toHaveLength(1);
    expect(refusals.filter((refusal) => refusal !== null)).toEqual([{ reason: "locked" }, { reason: "locked" }]);
  }
});

testStores("what several servers add to one conversation is there once and unmixed, and pages only grow", async () => {
  const { first, second, onAll } = await severalNodes();
  await first.conversations.createConversation(OURS, conversation("conv_1"), []);
  let isOver = false;
  const pages: string[][] = [];
  const watching = (async () => {
    while (!isOver) {
      const page = await second.conversations.listItems(OURS, "conv_1", { limit: 100, order: "asc", after: null });
      pages.push(page?.items.map(({ id: itemId }) => itemId) ?? []);
    }
  })();
  const writers = numbersFrom(1, 20);
  const refusals = await onAll((node, index) =>
    Promise.all(
      writers.map((writer) =>
        node.conversations.addItems(OURS, "conv_1", [
          anItem(`msg_${index}_${writer}_1`),
          anItem(`msg_${index}_${writer}_2`),
        ]),
      ),
    ),
  );
  isOver = true;
  await watching;
  expect(new Set(refusals.flat())).toEqual(new Set([null]));
  const ids = await itemsOf(first, "conv_1");
  expect(new Set(ids).size).toBe(NODES * writers.length * 2);
  for (const [index, id] of ids.entries()) if (id.endsWith("_1")) expect(ids[index + 1]).toBe(id.replace(/1$/, "2"));
  for (const page of pages) expect(page).toEqual(ids.slice(0, page.length));
});

testStores("one of several servers that add the same item adds it", async () => {
  const { first, onAll } = await severalNodes();
  await first.conversations.createConversation(OURS, conversation("conv_1"), []);
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = `msg_${round}`;
    const refusals = await onAll((node) => node.conversations.addItems(OURS, "conv_1", [anItem(id)]));
    expect(refusals.filter((refusal) => refusal === null)).toHaveLength(1);
    expect(refusals).toContainEqual({ reason: "duplicate_item", itemId: id });
  }
  expect(await itemsOf(first, "conv_1")).toEqual(numbersFrom(0, ROUNDS - 1).map((round) => `msg_${round}`));
});

testStores("a conversation that one server deletes while others add to it leaves no items", async () => {
  const { file, first, second, third } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = `conv_${round}`;
    await first.conversations.createConversation(OURS, conversation(id), [anItem(`msg_${round}`)]);
    const [deleted, ...added] = await Promise.all([
      first.conversations.deleteConversation(OURS, id),
      second.conversations.addItems(OURS, id, [anItem(`msg_${round}_2`)]),
      third.conversations.addItems(OURS, id, [anItem(`msg_${round}_3`)]),
    ]);
    expect(deleted).toBeNull();
    for (const refusal of added) expect([null, { reason: "unknown" }]).toContainEqual(refusal);
    expect(await third.conversations.findConversation(OURS, id)).toBeNull();
  }
  expect(await runSql(file, "select count(*) as count from conversation_locks")).toEqual([{ count: 0 }]);
});

testStores("an approval is spent once, also by calls of several servers", async () => {
  const { onAll, first } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const call = {
      callId: "call_1",
      name: "pay",
      server: "bank",
      arguments: "{}",
      effect: "may_have",
      turn: 1,
      attempts: [],
    } as const;
    const outcomes = await onAll((node, index) =>
      node.tools
        .begin(OURS, `resp_${round}_${index}`, {
          ...call,
          itemId: `mcp_${round}_${index}`,
          approvalRequestId: `mcpr_${round}`,
        })
        .then(
          () => "begun",
          (error: unknown) => (error instanceof ApprovalSpent ? "spent" : error),
        ),
    );
    expect(outcomes.map(String).toSorted()).toEqual(["begun", "spent", "spent"]);
    expect(await first.tools.findSpent(OURS, [`mcpr_${round}`])).toEqual(new Set([`mcpr_${round}`]));
  }
});

testStores("of an end and a deletion by different servers one comes first, and nothing half is left", async () => {
  const { file, first, second } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = `resp_${round}`;
    await first.events.open(
      { owner: OURS, response: aResponse(id), inputItems: [anItem(`in_${round}`)], task: "{}" },
      [],
    );
    await first.events.append(id, textEvents(0, 300));
    const completed = { response: aResponse(id, { status: "completed" }), outputItems: [anItem(`out_${round}`)] };
    const [, deleted] = await Promise.all([
      first.events.close(id, textEvents(300, 1), completed).catch(ignoreLoss),
      second.responses.deleteResponse(OURS, id),
    ]);
    expect(deleted).toBe(true);
    expect(await first.responses.findResponse(OURS, id)).toBeNull();
  }
  for (const table of ["responses", "items", "event_chunks", "ancestors"])
    expect(await runSql(file, `select count(*) as count from ${table}`), table).toEqual([{ count: 0 }]);
});

testStores("a chain whose links are deleted by different servers leaves nothing behind", async () => {
  const { file, onAll, first } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = numbersFrom(0, NODES - 1).map((link) => `resp_${round}_${link}`);
    for (const [link, id] of ids.entries()) {
      const previous = ids[link - 1];
      await storeRun(first.events, id, { ...(previous === undefined ? {} : { previous }), input: [`msg_${id}`] });
    }
    expect(await onAll((node, link) => node.responses.deleteResponse(OURS, ids[link] ?? ""))).toEqual([
      true,
      true,
      true,
    ]);
  }
  await eraseAll(first);
  for (const table of ["responses", "items", "event_chunks", "ancestors"])
    expect(await runSql(file, `select count(*) as count from ${table}`), table).toEqual([{ count: 0 }]);
});

testStores("a chain goes on while its links are deleted by another server: it is whole or unknown", async () => {
  const { first, second } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    await storeRun(first.events, `resp_${round}_a`, { input: [`msg_${round}_a`] });
    await Promise.all([
      storeRun(first.events, `resp_${round}_b`, { previous: `resp_${round}_a`, input: [`msg_${round}_b`] }),
      second.responses.deleteResponse(OURS, `resp_${round}_a`),
    ]);
    const chain = await second.responses.loadChain(OURS, `resp_${round}_b`);
    const items = chain?.flatMap((link) => link.items.map((item) => item.id)) ?? null;
    expect([null, [`msg_${round}_a`, `msg_${round}_b`]]).toContainEqual(items);
  }
});

testStores("a key is revoked once", async () => {
  const { first, onAll } = await severalNodes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id } = await first.keys.addKey(aKey(`hash_${round}`, OURS));
    const revoked = await onAll((node) => node.keys.revokeKey(id));
    expect(revoked.filter((refusal) => refusal === null)).toHaveLength(1);
    expect(await first.keys.findByHash(`hash_${round}`)).toBeNull();
  }
});

testStores(
  "servers that change the same conversations and responses in any order never wait for each other in a circle",
  async () => {
    const { first, onAll } = await severalNodes();
    const ids = numbersFrom(1, 4).map((number) => `conv_${number}`);
    for (const id of ids) await first.conversations.createConversation(OURS, conversation(id), []);
    const busy: unknown[] = [];
    let added = 0;
    const note = (error: unknown): void => {
      if (!(error instanceof StoreBusy)) throw error;
      busy.push(error.message);
    };
    await onAll(async (node, index) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const order = index % 2 === 0 ? ids : ids.toReversed();
        const name = `${index}_${round}`;
        await Promise.all([
          ...order.map((id) =>
            node.conversations.addItems(OURS, id, [anItem(`msg_${name}_${id}`)]).then(() => (added += 1), note),
          ),
          storeRun(node.events, `resp_${name}`).then(() => node.responses.deleteResponse(OURS, `resp_${name}`), note),
          claimUnmade(node.ledger, 2).catch(note),
        ]);
      }
    });
    expect(busy).toEqual([]);
    for (const id of ids) expect(await itemsOf(first, id)).toHaveLength(NODES * ROUNDS);
    expect(added).toBe(NODES * ROUNDS * ids.length);
  },
);
