import { readResponse, readResponseStreamEvent } from "@antiphon/contracts/responses-api/readers.js";
import { expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { says, serveBehind } from "./behind-upstream.ts";
import { readResponse as responseOf } from "./read-stream.ts";

const search = {
  id: "ws_1",
  type: "web_search_call",
  status: "completed",
  action: {
    type: "search",
    query: "weather in Rome",
    queries: ["weather in Rome"],
    sources: [
      { type: "api", name: "oai-weather" },
      { type: "url", url: "https://example.com" },
    ],
  },
};
const FILTERS = [
  { always: null, never: { read_only: null, tool_names: ["roll"] } },
  { always: { read_only: true, tool_names: null }, never: null },
  { never: null, always: null },
];
const mcp = { type: "mcp", server_label: "dice", server_url: "https://example.com/mcp" };

test("a reader accepts web searches that used a service", () => {
  verifies("contract.parity.search-sources-and-null-filters");
  const event = { type: "response.output_item.done", output_index: 0, sequence_number: 4 };
  expect(readResponseStreamEvent({ ...event, item: search })).toBe(true);
  const sources = [{ type: "carrier_pigeon" }];
  expect(readResponseStreamEvent({ ...event, item: { ...search, action: { ...search.action, sources } } })).toBe(false);
});

test("a reader accepts echoed MCP tools whose filters hold null", async () => {
  verifies("contract.parity.search-sources-and-null-filters");
  const { create } = await serveBehind(says("Yes."));
  const response = await responseOf(await create());
  for (const filter of FILTERS) {
    expect(readResponse({ ...response, tools: [{ ...mcp, require_approval: filter }] })).toBe(true);
    expect(readResponse({ ...response, tools: [{ ...mcp, allowed_tools: { read_only: null } }] })).toBe(true);
  }
  expect(readResponse({ ...response, tools: [{ ...mcp, require_approval: { never: "roll" } }] })).toBe(false);
});

test("a web search that used a service can be sent back", async () => {
  verifies("contract.parity.search-sources-and-null-filters");
  const { create } = await serveBehind(says("Yes."));
  const input = [{ role: "user", content: "Hi" }, search, { role: "assistant", content: "Sunny." }];
  expect((await create({ input })).status).toBe(200);
});
