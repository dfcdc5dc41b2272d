import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";

const MODEL = "antiphon-built-in";

const many = <T>(length: number, make: (index: number) => T): T[] => Array.from({ length }, (_, index) => make(index));
const message = (index: number): object => ({ role: "user", content: `${index}` });
const tool = (index: number): object => ({ type: "function", name: `f${index}`, parameters: null });
const text = (index: number): object => ({ type: "input_text", text: `${index}` });
const properties = (length: number): object =>
  Object.fromEntries(many(length, (index) => [`p${index}`, { type: "string" }]));
const strict = (members: object): object => ({ type: "object", additionalProperties: false, ...members });

interface Sizes {
  readonly max: number;
  readonly size: number;
}

/** The body, and the member and the size that the refusal names. */
const TOO_LONG: readonly (readonly [name: string, members: object, param: string, sizes: Sizes])[] = [
  ["items", { input: many(10_001, message) }, "input", { max: 10_000, size: 10_001 }],
  ["top-level parts", { input: many(10_001, text) }, "input", { max: 10_000, size: 10_001 }],
  [
    "parts of one item",
    { input: [{ role: "user", content: many(10_002, text) }] },
    "input",
    { max: 10_000, size: 10_002 },
  ],
  ["a conversation in full", { conversation: many(10_001, message) }, "conversation", { max: 10_000, size: 10_001 }],
  ["tools", { tools: many(2_001, tool) }, "tools", { max: 2_000, size: 2_001 }],
  [
    "tools of namespaces",
    { tools: many(3, (index) => ({ type: "namespace", name: `n${index}`, description: "", tools: many(700, tool) })) },
    "tools",
    { max: 2_000, size: 2_100 },
  ],
  [
    "allowed tools",
    {
      tools: [tool(0)],
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: many(2_001, () => ({ type: "function", name: "f0" })),
      },
    },
    "tool_choice.tools",
    { max: 2_000, size: 2_001 },
  ],
];

describe("a list that is too long", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test.each(TOO_LONG)("is refused by its size: %s", async (_name, members, param, { max, size }) => {
    verifies("limits.lists.items-and-tools");
    for (const path of ["/v1/responses", "/v1/responses/input_tokens"]) {
      const reply = await server.post(path, { model: MODEL, input: "hi", ...members });
      expect(await errorOf(reply)).toMatchObject({
        status: 400,
        code: "array_above_max_length",
        param,
        message: `Invalid '${param}': array too long. Expected an array with maximum length ${max}, but got an array with length ${size} instead.`,
      });
    }
  });

  test("is only refused beyond the greatest length", async () => {
    verifies("limits.lists.items-and-tools");
    const reply = await server.post("/v1/responses", {
      model: MODEL,
      input: many(10_000, message),
      tools: many(2_000, tool),
    });
    expect(reply.status, (await reply.text()).slice(0, 300)).toBe(200);
  });

  test.each([
    [
      "object properties",
      strict({ properties: properties(5_001), required: Object.keys(properties(5_001)) }),
      5_000,
      5_001,
    ],
    ["enum values", strict({ properties: { a: { enum: many(1_001, String) } }, required: ["a"] }), 1_000, 1_001],
    [
      "characters of names and enum values",
      strict({ properties: { a: { enum: many(13, (index) => `${index}`.padStart(10_000, "x")) } }, required: ["a"] }),
      120_000,
      130_001,
    ],
  ])("is refused in a strict schema: %s", async (what, schema, max, size) => {
    verifies("limits.schemas.strict-sizes");
    const format = { type: "json_schema", name: "s", strict: true, schema };
    const answer = await errorOf(await server.post("/v1/responses", { model: MODEL, input: "hi", text: { format } }));
    const limit = `Expected at most ${max} ${what} in total within a single schema when using structured outputs, but received ${size}.`;
    expect(answer).toMatchObject({ status: 400, code: "invalid_json_schema" });
    expect(answer.message).toContain(limit);
    const tools = [{ type: "function", name: "f", strict: true, parameters: schema }];
    const refusal = await errorOf(await server.post("/v1/responses", { model: MODEL, input: "hi", tools }));
    expect(refusal).toMatchObject({ status: 400, code: "invalid_function_parameters" });
    expect(refusal.message).toContain(limit);
    const open = [{ type: "function", name: "f", parameters: schema }];
    expect((await server.post("/v1/responses", { model: MODEL, input: "hi", tools: open })).status).toBe(200);
  });
});
