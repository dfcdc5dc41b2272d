import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { says, serveBehind } from "./behind-upstream.ts";
import { MODEL } from "./check-refusal.ts";
import { readResponse, readStream, responseOf } from "./read-stream.ts";

const OPEN = {
  type: "object",
  properties: { location: { type: "string" }, unit: { type: "string", enum: ["c", "f"] } },
  required: ["location"],
};
const CLOSED = { ...OPEN, required: ["location", "unit"], additionalProperties: false };
const MAP = { type: "object", properties: {}, additionalProperties: { type: "string" } };

const STRAY = { ...OPEN, strict: false };

/** What is sent, and the schema and `strict` that are echoed and sent to the model server. */
const CASES: Readonly<Record<string, readonly [sent: object, schema: object | null, strict: boolean]>> = {
  "an open schema without strict": [{ schema: OPEN }, CLOSED, true],
  "an open schema with a strict of null": [{ schema: OPEN, strict: null }, CLOSED, true],
  "a closed schema without strict": [{ schema: CLOSED }, CLOSED, true],
  "a schema that cannot be strict, without strict": [{ schema: MAP }, MAP, false],
  "a schema that holds a strict of its own": [{ schema: STRAY }, { ...CLOSED, strict: false }, true],
  "an open schema with strict false": [{ schema: OPEN, strict: false }, OPEN, false],
};

describe("in front of a model server", () => {
  verifies("tools.function.strict-by-default", "tools.function.strict-falls-back");
  test.each(Object.entries(CASES))(
    "a function with %s is echoed as it is sent to the model server",
    async (_, [sent, schema, strict]) => {
      const { create, asked } = await serveBehind(says("Hi"));
      const { schema: parameters, ...rest } = { strict: undefined, schema: null, ...sent };
      const tool = { type: "function", name: "f", parameters, ...rest };
      const request = { tools: [tool, { type: "namespace", name: "n", description: "N", tools: [tool] }] };
      const echoed = { type: "function", name: "f", parameters: schema, strict };
      const { tools } = await readResponse(await create(request));
      expect(tools).toMatchObject([echoed, { type: "namespace", tools: [echoed] }]);
      expect(tools[0]).toHaveProperty("parameters", schema);
      const member = (name: string): object => ({ name, parameters: schema, ...(strict ? { strict } : {}) });
      expect(asked()).toMatchObject({
        tools: [
          { type: "function", function: member("f") },
          { type: "function", function: { ...member("n__f"), description: "N" } },
        ],
      });
    },
  );

  test("a function with a schema of {} is echoed and sent as one without parameters that is not strict", async () => {
    verifies("tools.function.empty-schema");
    const { create, asked } = await serveBehind(says("Hi"));
    const tool = { type: "function", name: "f", parameters: {} };
    const group = { type: "namespace", name: "n", description: "N", tools: [tool] };
    const parameters = { type: "object", properties: {} };
    const { tools } = await readResponse(await create({ tools: [tool, group] }));
    expect(tools).toMatchObject([{ parameters, strict: false }, { tools: [{ parameters, strict: false }] }]);
    expect(asked()).toMatchObject({ tools: [{ function: { parameters } }, { function: { parameters } }] });
  });

  test("a function without a schema is strict, and is sent with an empty, closed schema", async () => {
    const { create, asked } = await serveBehind(says("Hi"));
    const { tools } = await readResponse(await create({ tools: [{ type: "function", name: "f" }] }));
    expect(tools).toMatchObject([{ name: "f", parameters: null, strict: true }]);
    const parameters = { type: "object", properties: {}, required: [], additionalProperties: false };
    expect(asked()).toMatchObject({ tools: [{ function: { name: "f", strict: true, parameters } }] });
  });

  test.each(Object.entries(CASES))(
    "a format with %s is echoed as it is sent to the model server",
    async (_, [sent, schema, strict]) => {
      const { create, asked } = await serveBehind(says("{}"));
      const format = { type: "json_schema", name: "n", ...sent };
      const { events, final } = await readStream(await create({ text: { format }, stream: true }));
      for (const { text } of [responseOf(events[0]), final])
        expect(text.format).toEqual({ type: "json_schema", description: null, name: "n", schema, strict });
      expect(asked()).toMatchObject({
        response_format: { type: "json_schema", json_schema: { name: "n", schema, strict } },
      });
    },
  );
});

describe("an explicit strict", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test("with a schema that cannot be strict remains an error", async () => {
    verifies("errors.catalogue.function-schema-refused", "errors.catalogue.strict-schema-refused");
    const ask = (members: object): Promise<Response> =>
      server.post("/v1/responses", { model: MODEL, input: "Hi", ...members });
    const tools = [{ type: "function", name: "f", parameters: OPEN, strict: true }];
    expect(await (await ask({ tools })).json()).toMatchObject({ error: { code: "invalid_function_parameters" } });
    const format = { type: "json_schema", name: "n", schema: OPEN, strict: true };
    expect(await (await ask({ text: { format } })).json()).toMatchObject({ error: { code: "invalid_json_schema" } });
  });
});
