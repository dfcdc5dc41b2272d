import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { KnownExchange, ToolLedger } from "@antiphon/domain/tool-ledger.ts";
import { expect, test } from "vitest";
import { withExchanges } from "./with-exchanges.ts";

const OWNER = { organization: "org", project: "project" };
const SEARCH: StoredItem = {
  id: "ws_1",
  type: "web_search_call",
  status: "completed",
  action: { type: "search", query: "herons", queries: ["herons"] },
};
const KNOWN: KnownExchange = {
  itemId: "ws_1",
  callId: "call_1",
  name: "web_search",
  server: null,
  arguments: '{"queries": ["herons"]}',
  effect: "none",
  approvalRequestId: null,
  turn: 1,
  attempts: [],
  result: {
    itemId: "ws_1",
    item: { id: "ws_1", type: "web_search_call", status: "completed" },
    output: "[web:1] Herons",
    parts: [],
    usage: null,
    outcome: "finished",
  },
};
const REQUEST: StoredItem = {
  id: "mcpr_1",
  type: "mcp_approval_request",
  arguments: '{"cents": 5}',
  name: "pay",
  server_label: "bank",
};
const CALLED: StoredItem = {
  id: "mcp_1",
  type: "mcp_call",
  status: "completed",
  approval_request_id: "mcpr_1",
  arguments: '{"cents": 5}',
  error: null,
  name: "pay",
  output: "paid",
  server_label: "bank",
};
const LIST: StoredItem = { id: "mcpl_1", type: "mcp_list_tools", server_label: "bank", tools: [] };

function answer(approve: boolean, reason: string | null = null): StoredItem {
  return { id: "mcpa_1", type: "mcp_approval_response", approval_request_id: "mcpr_1", approve, reason };
}

function asSeen(items: readonly StoredItem[], known: readonly KnownExchange[] = [], servers: readonly string[] = []) {
  const ledger: Pick<ToolLedger, "find"> = {
    find: async (_owner, ids) =>
      new Map(known.filter(({ itemId }) => ids.includes(itemId)).map((one) => [one.itemId, one])),
  };
  return withExchanges(ledger, OWNER, items, { mcpServers: new Set(servers) });
}

test("a known call is shown word for word, an unknown one as its item", async () => {
  expect(await asSeen([SEARCH], [KNOWN])).toStrictEqual([
    { type: "hosted_call", callId: "call_1", name: "web_search", server: null, arguments: '{"queries": ["herons"]}' },
    { type: "hosted_output", callId: "call_1", output: "[web:1] Herons", parts: [] },
  ]);
  expect(await asSeen([SEARCH])).toStrictEqual([SEARCH]);
});

test("a call without a result was cut off", async () => {
  const [, output] = await asSeen([SEARCH], [{ ...KNOWN, result: null }]);
  expect(output).toMatchObject({ type: "hosted_output", output: expect.stringContaining("cut off") });
});

test("a list of tools is not told if its server is offered", async () => {
  expect(await asSeen([LIST], [], ["bank"])).toStrictEqual([]);
  expect(await asSeen([LIST], [], ["shop"])).toStrictEqual([LIST]);
});

test("an approval is told by the call that followed it", async () => {
  expect(await asSeen([REQUEST, answer(true), CALLED])).toStrictEqual([CALLED]);
});

test("an approval without a call yet stays, and so does a request without an answer", async () => {
  expect(await asSeen([REQUEST, answer(true)])).toStrictEqual([REQUEST, answer(true)]);
  expect(await asSeen([REQUEST])).toStrictEqual([REQUEST]);
});

test("a denial is a call whose output says so", async () => {
  expect(await asSeen([REQUEST, answer(false, "too much")])).toStrictEqual([
    { type: "hosted_call", callId: "mcpr_1", name: "pay", server: "bank", arguments: '{"cents": 5}' },
    { type: "hosted_output", callId: "mcpr_1", output: "The user denied this call: too much", parts: [] },
  ]);
});

test("a context without tools stays the same object", async () => {
  const items: readonly StoredItem[] = [];
  expect(await asSeen(items)).toBe(items);
});
