import type { StoredItem, Tool } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { cpuMsOf } from "../../../tests/kit/cpu-time.ts";
import { withJoinedTools } from "./joined-tools.ts";

type FunctionTool = Extract<Tool, { type: "function" }>;

const f = (name: string, description = "D"): FunctionTool => ({
  type: "function",
  description,
  name,
  output_schema: null,
  parameters: { type: "object", properties: {} },
  strict: false,
});
const namespace = (name: string, ...tools: FunctionTool[]): Tool => ({
  type: "namespace",
  name,
  description: "D",
  tools,
});
const added = (...tools: Tool[]): StoredItem => ({ id: "at_1", type: "additional_tools", role: "developer", tools });
const found = (...tools: Tool[]): StoredItem => ({
  id: "tso_1",
  type: "tool_search_output",
  status: "completed",
  call_id: null,
  execution: "server",
  tools,
});
const deferred = (name: string): FunctionTool => ({ ...f(name), defer_loading: true });
const search: Tool = { type: "tool_search", execution: "client", description: null, parameters: null };

const cases: Readonly<Record<string, readonly [tools: Tool[], context: StoredItem[], expected: Tool[]]>> = {
  "an additional function is one of the tools": [[], [added(f("a"))], [f("a")]],
  "a function that was found is a namespace of its own name": [[], [found(f("a"))], [namespace("a", f("a"))]],
  "an additional function takes the place of a deferred one": [
    [search, deferred("a"), f("b")],
    [added(f("a"))],
    [search, f("a"), f("b")],
  ],
  "a namespace of a function that was found replaces the deferred function": [
    [search, deferred("a"), deferred("b")],
    [found(deferred("a")), found(deferred("a"))],
    [search, deferred("b"), namespace("a", f("a"))],
  ],
  "a function that was found and was not deferred stays as it is": [[f("a")], [found(f("a"))], [f("a")]],
  "a function that was found is not added once more": [[], [found(f("a")), added(f("a"))], [namespace("a", f("a"))]],
  "a namespace is added unchanged": [[f("b")], [added(namespace("n", f("a")))], [f("b"), namespace("n", f("a"))]],
  "new members are added to the existing namespace": [
    [namespace("n", f("a")), f("b")],
    [added(namespace("n", f("a", "another"), f("c")))],
    [namespace("n", f("a"), f("c")), f("b")],
  ],
  "a tool that the request already has is not added again": [
    [f("a"), search],
    [added(f("a"), search)],
    [f("a"), search],
  ],
  "a tool that two items hold is added once": [[], [added(f("a")), added(f("a", "another"))], [f("a")]],
  "other items add no tools": [[f("a")], [{ id: "cmp_1", type: "compaction", encrypted_content: "x" }], [f("a")]],
};

test.each(Object.entries(cases))("%s", (_title, [tools, context, expected]) => {
  expect(withJoinedTools(tools, { context, places: [] })).toEqual(expected);
});

test.each([
  [[0, 1], "input[1].tools[1]"],
  [[null, 0], "input[0].tools[1]"],
  [[null, null], "input"],
])("for items at the input indexes %j, a tool that needs a server is refused with param %s", (places, param) => {
  const context = [added(f("a")), added(f("b"), { type: "local_shell" })];
  expect(() => withJoinedTools([], { context, places })).toThrow(expect.objectContaining({ param }));
});

test("the time grows with the number of tools, not with its square", async () => {
  const items = (length: number): StoredItem[] =>
    Array.from({ length }, (_, index) => added(f(`f${index}`), namespace("n", f(`m${index}`))));
  const msOf = async (context: readonly StoredItem[]): Promise<number> =>
    (await cpuMsOf(() => withJoinedTools([], { context, places: [] }))).ms;
  await msOf(items(20_000));
  const one = await msOf(items(10_000));
  const four = await msOf(items(40_000));
  expect(four).toBeLessThan(one * 12 + 200);
});
