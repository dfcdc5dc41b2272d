import type { FunctionCall } from "@antiphon/contracts/responses-api/types.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL } from "./check-refusal.ts";
import { readResponse } from "./read-stream.ts";

const PARAMETERS = {
  type: "object",
  properties: {
    city: { type: "string" },
    unit: { type: "string", enum: ["celsius", "fahrenheit"] },
    days: { type: "array", items: { type: "integer", minimum: 1, maximum: 7 }, minItems: 1 },
  },
  required: ["city", "unit", "days"],
  additionalProperties: false,
};
const TOOLS = [{ type: "function", name: "get_weather", parameters: PARAMETERS }];

describe("a function", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const callsFor = async (members: object): Promise<readonly FunctionCall[]> => {
    const request = { model: MODEL, input: "Get the weather in Paris", tools: TOOLS, ...members };
    const { output } = await readResponse(await server.post("/v1/responses", request));
    return output.filter((item) => item.type === "function_call");
  };

  test("is called with JSON text that is valid by its JSON Schema", async () => {
    verifies("tools.function.json-schema-parameters");
    const [call, ...others] = await callsFor({});
    expect(others).toEqual([]);
    const validate = new Ajv2020().compile(PARAMETERS);
    expect(call).toMatchObject({ name: "get_weather", arguments: expect.any(String) });
    expect(validate(JSON.parse(call?.arguments ?? "")), JSON.stringify(validate.errors)).toBe(true);
  });

  test("is never called with tool_choice none", async () => {
    verifies("create.toolchoice.none-yields-no-call");
    expect(await callsFor({ tool_choice: "required" })).toHaveLength(1);
    expect(await callsFor({ tool_choice: "none" })).toEqual([]);
    expect(await callsFor({ tool_choice: "none", input: "Call get_weather now" })).toEqual([]);
  });
});
