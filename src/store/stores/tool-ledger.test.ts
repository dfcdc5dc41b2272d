import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import {
  ApprovalSpent,
  type BegunExchange,
  type FinishedExchange,
  type TurnDecision,
} from "@antiphon/domain/tool-ledger.ts";
import { expect } from "vitest";
import { RunLost } from "../../runs/ports/store-faults.ts";
import type { Store } from "../open-store.ts";
import { openTestStore, runSql, storeRun, temporaryFile, testStores } from "../store.fixture.ts";
import { aResponse, OTHERS, OURS } from "../stored-shapes.fixture.ts";

const [THEIRS = OURS] = OTHERS;

const CALL: BegunExchange = {
  itemId: "mcp_1",
  callId: "call_1",
  name: "pay",
  server: "bank",
  arguments: '{"cents": 5}',
  effect: "may_have",
  approvalRequestId: null,
  turn: 1,
  attempts: [{ startedAt: 1000, endedAt: null, node: "one", outcome: null }],
};
const ITEM = {
  id: "mcp_1",
  type: "mcp_call",
  name: "pay",
  server_label: "bank",
  arguments: '{"cents": 5}',
  output: "paid",
  error: null,
  status: "completed",
  approval_request_id: null,
} as const;
const RESULT: FinishedExchange = {
  itemId: "mcp_1",
  item: ITEM,
  output: "paid",
  parts: [{ type: "input_text", text: "a receipt" }],
  usage: { webSearches: 1 },
  outcome: "finished",
};

const DECISION: TurnDecision = {
  finish: "stop",
  parts: [
    { type: "said", item: "message", events: [{ type: "text_delta", text: "Let me pay. \u0000" }] },
    { type: "call", itemId: "mcp_1", callId: "call_1", name: "pay", server: "bank", arguments: "{}", refusal: null },
  ],
};

testStores("a call is found as it was begun and as it ended, by its owner only", async () => {
  const { tools } = await openTestStore();
  await tools.begin(OURS, "resp_1", CALL);
  expect((await tools.find(OURS, ["mcp_1", "mcp_2"])).get("mcp_1")).toStrictEqual({ ...CALL, result: null });
  await tools.finish(OURS, "resp_1", RESULT, CALL.attempts);
  expect([...(await tools.find(OURS, ["mcp_1"]))]).toStrictEqual([["mcp_1", { ...CALL, result: RESULT }]]);
  expect(await tools.find(THEIRS, ["mcp_1"])).toStrictEqual(new Map());
});

testStores("a call keeps that its outcome is unknown, and one of an earlier release counts as finished", async () => {
  const file = temporaryFile();
  const { tools } = await openTestStore({ file });
  const outcome = async () => (await tools.find(OURS, ["mcp_1"])).get("mcp_1")?.result?.outcome;
  await tools.begin(OURS, "resp_1", CALL);
  await tools.finish(OURS, "resp_1", { ...RESULT, outcome: "unknown" }, CALL.attempts);
  expect(await outcome()).toBe("unknown");
  await runSql(file, "update tool_exchanges set outcome = null");
  expect(await outcome()).toBe("finished");
});

testStores("only a call without effects begins a second time under its item", async () => {
  const { tools } = await openTestStore();
  await tools.begin(OURS, "resp_1", CALL);
  await expect(tools.begin(OURS, "resp_1", CALL)).rejects.toThrow(RunLost);
  const search = { ...CALL, itemId: "ws_1", effect: "none" } as const;
  await tools.begin(OURS, "resp_1", search);
  await tools.begin(OURS, "resp_1", { ...search, arguments: "{}" });
  expect((await tools.find(OURS, ["ws_1"])).get("ws_1")?.arguments).toBe("{}");
  await tools.finish(OURS, "resp_1", { ...RESULT, itemId: "ws_1" }, []);
  await expect(tools.begin(OURS, "resp_1", search)).rejects.toThrow(RunLost);
});

testStores("the items that follow a call are kept with it", async () => {
  const { tools } = await openTestStore();
  const call = { call_id: "call_1", status: "completed" } as const;
  const action = { commands: ["ls"], max_output_length: null, timeout_ms: null };
  const item = { id: "sh_1", type: "shell_call", ...call, action, environment: null } as const;
  const printed = { id: "sho_1", type: "shell_call_output", ...call, max_output_length: null, output: [] } as const;
  const following = [{ ...printed, output: [] }];
  const result = {
    itemId: "sh_1",
    item,
    output: "ran",
    parts: [],
    usage: null,
    outcome: "finished",
    following,
  } as const;
  await tools.begin(OURS, "resp_1", { ...CALL, itemId: "sh_1", effect: "sandboxed" });
  await tools.finish(OURS, "resp_1", result, []);
  expect((await tools.find(OURS, ["sh_1"])).get("sh_1")?.result).toStrictEqual(result);
});

testStores("an approval is spent once, also by two calls at once", async () => {
  const { tools } = await openTestStore();
  const approved = (itemId: string) => ({ ...CALL, itemId, approvalRequestId: "mcpr_1" });
  expect(await tools.findSpent(OURS, ["mcpr_1"])).toStrictEqual(new Set());
  const [one, two] = await Promise.allSettled([
    tools.begin(OURS, "resp_1", approved("mcp_1")),
    tools.begin(OURS, "resp_2", approved("mcp_2")),
  ]);
  expect([one.status, two.status].toSorted()).toStrictEqual(["fulfilled", "rejected"]);
  expect([one, two].find(({ status }) => status === "rejected")).toMatchObject({ reason: expect.any(ApprovalSpent) });
  expect(await tools.findSpent(OURS, ["mcpr_1", "mcpr_2"])).toStrictEqual(new Set(["mcpr_1"]));
  await tools.begin(THEIRS, "resp_3", approved("mcp_3"));
});

testStores(
  "an approval whose request is stored is spent by a response that is not, and goes with the request",
  async () => {
    const { tools, events, responses } = await openTestStore();
    await tools.spend(OURS, "resp_2", "mcpr_1");
    expect(await tools.findSpent(OURS, ["mcpr_1"])).toStrictEqual(new Set());
    await storeRun(events, "resp_1", { output: ["mcpr_1"] });
    await tools.spend(THEIRS, "resp_2", "mcpr_1");
    await tools.spend(OURS, "resp_2", "mcpr_1");
    expect(await tools.findSpent(OURS, ["mcpr_1"])).toStrictEqual(new Set(["mcpr_1"]));
    await expect(tools.spend(OURS, "resp_3", "mcpr_1")).rejects.toThrow(ApprovalSpent);
    const approved = { ...CALL, approvalRequestId: "mcpr_1" };
    await expect(tools.begin(OURS, "resp_3", approved)).rejects.toThrow(ApprovalSpent);
    await responses.deleteResponse(OURS, "resp_1");
    expect(await tools.findSpent(OURS, ["mcpr_1"])).toStrictEqual(new Set());
  },
);

testStores("an approved call without effects begins a second time with its approval", async () => {
  const { tools } = await openTestStore();
  const approved = { ...CALL, effect: "none", approvalRequestId: "mcpr_1" } as const;
  await tools.begin(OURS, "resp_1", approved);
  await tools.begin(OURS, "resp_1", approved);
  await expect(tools.begin(OURS, "resp_1", { ...approved, itemId: "mcp_2" })).rejects.toThrow(ApprovalSpent);
});

testStores("what the turns of a response used is kept with it, for its owner only", async () => {
  const file = temporaryFile();
  const store = await openTestStore({ file });
  await openRun(store, "resp_1");
  await store.tools.endTurn(OURS, "resp_1", { number: 2, usage: usageOf(7), decision: null });
  await store.tools.endTurn(OURS, "resp_1", { number: 1, usage: usageOf(3), decision: DECISION });
  await store.tools.endTurn(OURS, "resp_1", { number: 2, usage: usageOf(8), decision: null });
  expect(await store.tools.turnsOf(OURS, "resp_1")).toStrictEqual([
    { number: 1, usage: usageOf(3), decision: DECISION },
    { number: 2, usage: usageOf(8), decision: null },
  ]);
  expect(await store.tools.turnsOf(THEIRS, "resp_1")).toStrictEqual([]);
  const other = await openTestStore({ file });
  await expect(other.tools.endTurn(OURS, "resp_1", { number: 3, usage: usageOf(1), decision: null })).rejects.toThrow(
    RunLost,
  );
  const end = aResponse("resp_1", { status: "completed", completed_at: 1_760_000_009 });
  await store.events.close("resp_1", [], { response: end, outputItems: [] });
  await store.responses.deleteResponse(OURS, "resp_1");
  expect(await store.tools.turnsOf(OURS, "resp_1")).toStrictEqual([]);
});

testStores("another server that makes the response can neither begin nor finish a call for it", async () => {
  const file = temporaryFile();
  const ours = await openTestStore({ file });
  await openRun(ours, "resp_1");
  await ours.tools.begin(OURS, "resp_1", CALL);
  const other = await openTestStore({ file });
  await expect(other.tools.begin(OURS, "resp_1", { ...CALL, itemId: "mcp_2" })).rejects.toThrow(RunLost);
  await expect(other.tools.finish(OURS, "resp_1", RESULT, CALL.attempts)).rejects.toThrow(RunLost);
  await ours.ledger.release("resp_1", { hadBegun: true });
  await expect(ours.tools.finish(OURS, "resp_1", RESULT, CALL.attempts)).rejects.toThrow(RunLost);
});

testStores(
  "a call goes with the last item of its id: of its response, of one it was sent back to, of a conversation",
  async () => {
    const file = temporaryFile();
    const store = await openTestStore({ file });
    await openRun(store, "resp_1");
    await store.tools.begin(OURS, "resp_1", CALL);
    await store.tools.finish(OURS, "resp_1", RESULT, CALL.attempts);
    const end = aResponse("resp_1", { status: "completed", completed_at: 1_760_000_009 });
    await store.events.close("resp_1", [], { response: end, outputItems: [ITEM] });
    await store.events.open({ owner: OURS, response: aResponse("resp_2"), inputItems: [ITEM] }, []);
    await store.responses.deleteResponse(OURS, "resp_1");
    await eraseAll(store);
    expect((await store.tools.find(OURS, ["mcp_1"])).size).toBe(1);
    await store.responses.deleteResponse(OURS, "resp_2");
    await eraseAll(store);
    expect((await store.tools.find(OURS, ["mcp_1"])).size).toBe(0);
  },
);

testStores("a call of a response that was never stored is erased after a day", async () => {
  const file = temporaryFile();
  const store = await openTestStore({ file });
  await store.tools.begin(OURS, "resp_never", CALL);
  await eraseAll(store);
  expect((await store.tools.find(OURS, ["mcp_1"])).size).toBe(1);
  await runSql(file, "update tool_exchanges set created_at = created_at - 86401");
  await eraseAll(store);
  expect((await store.tools.find(OURS, ["mcp_1"])).size).toBe(0);
});

function usageOf(outputTokens: number): ModelUsage {
  return { inputTokens: 5, cachedTokens: 1, cacheWriteTokens: 0, outputTokens, reasoningTokens: 2 };
}

async function openRun({ events }: Store, id: string): Promise<void> {
  await events.open({ owner: OURS, response: aResponse(id), inputItems: [] }, []);
}

async function eraseAll({ erasure }: Store): Promise<void> {
  for (let cursor: string | null = ""; cursor !== null; cursor = (await erasure.eraseUnused(cursor)).next);
}
