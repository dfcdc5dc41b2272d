import { expect, test } from "vitest";
import { LIST_RESULT, lightMessage, PARTS_MAX } from "./light-results.ts";

/** A map whose members nobody may list. */
const UNREAD = new Proxy(
  {},
  {
    ownKeys: () => {
      throw new Error("its members were listed");
    },
  },
);

function listOf(tool: object) {
  return LIST_RESULT["~standard"].validate({ tools: [{ name: "one", inputSchema: { type: "object" }, ...tool }] });
}

test("a list of tools is taken without a look at the properties of its schemas", () => {
  const taken = listOf({ inputSchema: { type: "object", properties: UNREAD }, outputSchema: UNREAD });
  expect(taken).toHaveProperty("value.tools.0.name", "one");
});

test.each([
  { name: 1 },
  { description: 1 },
  { inputSchema: null },
  { inputSchema: { type: "string" } },
  { annotations: "none" },
])("a list with a tool of %j is none", (tool) => {
  expect(listOf(tool)).toHaveProperty("issues");
});

test("of the parts of a result only the first are kept, and those left out are never read", () => {
  const parts: unknown[] = Array.from({ length: PARTS_MAX }, () => ({ type: "resource_link" }));
  const unread = Array.from({ length: 5 }, () => UNREAD);
  const message = { jsonrpc: "2.0" as const, id: 1, result: { content: [...parts, ...unread] } };
  expect(lightMessage(message).result["content"]).toEqual([
    ...parts,
    { type: "text", text: "[5 more parts of the result were left out.]" },
  ]);
});

test("structured content is text where a result has none, and is left out elsewhere", () => {
  const message = (content: readonly object[]) => ({
    jsonrpc: "2.0" as const,
    id: 1,
    result: { content, structuredContent: { a: 1 } },
  });
  const text = { type: "text", text: "said" };
  expect(lightMessage(message([])).result).toEqual({ content: [{ type: "text", text: '{"a":1}' }] });
  expect(lightMessage(message([text])).result).toEqual({ content: [text] });
});

test("other messages pass as they are", () => {
  const list = { jsonrpc: "2.0" as const, id: 1, result: { tools: [] } };
  const request = { jsonrpc: "2.0" as const, id: 1, method: "ping" };
  const short = { jsonrpc: "2.0" as const, id: 1, result: { content: [{ type: "text", text: "said" }] } };
  for (const message of [list, request, short]) expect(lightMessage(message)).toBe(message);
});
