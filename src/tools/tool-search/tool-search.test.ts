import type { Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { OpenTool, ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import { expect, test } from "vitest";
import { runCall, toolScope } from "../tool-scope.fixture.ts";
import { toolSearchTool } from "./tool-search-tool.ts";

const INVOICE = aFunction("create_invoice", "Writes a bill for a customer.", ["customer", "amount"]);
const WEATHER = aFunction("getWeather", "Tells the weather of a city.", ["city"]);
const CRM: Tool = {
  type: "namespace",
  name: "crm",
  description: "Customers.",
  tools: [{ ...aFunction("list_orders", "Lists what a customer ordered.", []), type: "function" }],
};
const MANY = Array.from({ length: 300 }, (_, index) => aFunction(`other_${index}`, `Does thing ${index}.`, []));

test.each([
  ["a word of the name", "invoice", "create_invoice"],
  ["a part of a camel-case name", "weather", "getWeather"],
  ["words of the description", "bill for a customer", "create_invoice"],
  ["a parameter", "which city", "getWeather"],
  ["a member of a namespace", "what did they order", "crm"],
  ["a word with a slip", "wether", "getWeather"],
])("a tool is found by %s", async (_by, query, name) => {
  const outcome = await search([...MANY, INVOICE, WEATHER, CRM], { query });
  expect(outcome.type === "ran" && outcome.item).toMatchObject({
    id: "tsc_1",
    status: "completed",
    call_id: null,
    execution: "server",
    arguments: { paths: expect.arrayContaining([name]) },
  });
});

test("found tools are listed in an item of their own and offered as namespaces of their names", async () => {
  const outcome = await search([INVOICE, WEATHER], { query: "invoice" });
  expect(outcome).toMatchObject({
    type: "ran",
    output: "You can now call: create_invoice.",
    following: [{ last: { id: "tso_1", type: "tool_search_output", execution: "server", tools: [INVOICE] } }],
    foundTools: [{ type: "namespace", name: "create_invoice", tools: [INVOICE] }],
  });
});

test("at most five tools are found", async () => {
  const outcome = await search(MANY, { query: "thing" });
  expect(outcome.type === "ran" && outcome.foundTools).toHaveLength(5);
});

test("nothing found is told, and so are wrong arguments", async () => {
  expect(await search([INVOICE], { query: "zzz" })).toMatchObject({
    output: "No tool fits. Try other words.",
    foundTools: [],
  });
  expect(await search([INVOICE], {})).toMatchObject({ type: "told" });
});

test("the model is told the names; without deferred tools there is nothing to search", async () => {
  expect((await opened([INVOICE])).functions[0]?.description).toContain("There are: create_invoice.");
  expect((await opened(MANY)).functions[0]?.description).toContain("and 200 more.");
  expect((await opened([])).functions).toStrictEqual([]);
});

function aFunction(
  name: string,
  description: string,
  parameters: readonly string[],
): Extract<Tool, { type: "function" }> {
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter, { type: "string" }]));
  return {
    type: "function",
    name,
    description,
    output_schema: null,
    parameters: { type: "object", properties },
    strict: false,
  };
}

function opened(deferred: readonly Tool[]): Promise<OpenTool> {
  return toolSearchTool.open({ type: "tool_search" }, toolScope({ laterTools: deferred }));
}

async function search(deferred: readonly Tool[], args: object): Promise<ToolOutcome> {
  const { outcome, steps } = await runCall(await opened(deferred), "tool_search", args);
  expect(steps).toEqual([]);
  return outcome;
}
