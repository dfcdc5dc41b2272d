import { isRecord } from "@antiphon/base/json/records.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { choicesOf, propertiesOf, schemaNamed, variantsOf } from "../hostile/contract-schema.ts";
import { smallestOf } from "../hostile/smallest-value.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkReply, MODEL, wrongType } from "./check-refusal.ts";
import { PIXEL, WAV } from "./media-samples.ts";
import { readResponse } from "./read-stream.ts";

const call = (type: string, members: object): object => ({ type, call_id: "call_1", ...members });

/** Items of types that mean nothing alone, or that need more than their schema demands. */
const SAMPLES: Readonly<Record<string, readonly object[]>> = {
  computer_call_output: [call("computer_call_output", { output: { type: "computer_screenshot", image_url: PIXEL } })],
  custom_tool_call: [
    call("custom_tool_call", { name: "c", input: "x" }),
    call("custom_tool_call_output", { output: "y" }),
  ],
  custom_tool_call_output: [
    call("custom_tool_call", { name: "c", input: "x" }),
    call("custom_tool_call_output", { output: "y" }),
  ],
  function_call: [call("function_call", { name: "f", arguments: "{}" }), call("function_call_output", { output: "y" })],
  function_call_output: [
    call("function_call", { name: "f", arguments: "{}" }),
    call("function_call_output", { output: "y" }),
  ],
  input_audio: [{ type: "input_audio", input_audio: { data: WAV, format: "wav" } }],
  input_file: [{ type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,SGk=" }],
  input_image: [{ type: "input_image", image_url: PIXEL }],
  local_shell_call_output: [
    call("local_shell_call", { id: "lsh_1", status: "completed", action: { type: "exec", command: ["ls"], env: {} } }),
    call("local_shell_call_output", { output: "y" }),
  ],
  reasoning: [
    { type: "reasoning", summary: [] },
    { type: "message", role: "assistant", content: "Hi" },
  ],
  tool_result: [call("function_call", { name: "f", arguments: "{}" }), call("tool_result", { output: "y" })],
  tool_search_call: [{ type: "tool_search_call", arguments: {} }],
};

/** Errors of an item that passed validation: whether it is ours, exists, and can be used. */
const LATER_ERRORS =
  /^(The encrypted content could not be verified|Item with id|Unsupported parameter: 'input\[1\]'\. This|The model of this server does not hear|No approval re(?:quest|sponse) )/;

describe("as input, an item", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const create = (items: readonly unknown[]): Promise<Response> =>
    server.post("/v1/responses", { model: MODEL, input: [{ role: "user", content: "Hi" }, ...items] });

  const types = new Map(variantsOf(schemaNamed("InputItem")).map(({ schema }) => [typeOf(schema), schema]));

  test.each([...types])("of type %s passes validation", async (type, schema) => {
    verifies("create.input.every-known-item-type");
    const reply = await create(SAMPLES[type] ?? [smallestOf(schema)]);
    const { error }: { error: { message: string } | null } = await reply.json();
    if (reply.status !== 200) expect(error?.message).toMatch(LATER_ERRORS);
  });

  test("of each type in the list of known types is tested above", async () => {
    verifies("create.input.every-known-item-type");
    const { error }: { error: { message: string } } = await (await create([{ type: "nothing" }])).json();
    const listed = [...error.message.matchAll(/'([a-z_]+)'/g)].map(([, name = ""]) => name).slice(1);
    expect(listed.length).toBeGreaterThan(30);
    expect(listed.filter((name) => !types.has(name))).toEqual([]);
  });

  test("that is a search for tools belongs to the server unless it has a call id", async () => {
    const items = [
      { type: "tool_search_call", arguments: { query: "x" } },
      { type: "tool_search_output", tools: [] },
      { type: "tool_search_call", arguments: {}, call_id: "call_1" },
      { type: "tool_search_output", tools: [], call_id: "call_1" },
    ];
    const { id } = await readResponse(await create(items));
    const listed: unknown = await (await server.fetch(`/v1/responses/${id}/input_items?order=asc`)).json();
    expect(isRecord(listed) ? listed["data"] : null).toMatchObject([
      { type: "message" },
      { type: "tool_search_call", call_id: null, execution: "server" },
      { type: "tool_search_output", call_id: null, execution: "server" },
      { type: "tool_search_call", call_id: "call_1", execution: "client" },
      { type: "tool_search_output", call_id: "call_1", execution: "client" },
    ]);
    await checkReply(
      await create([{ type: "tool_search_call", arguments: "x" }]),
      wrongType("input[1].arguments", "an object", "a string"),
    );
  });
});

function typeOf(schema: Parameters<typeof propertiesOf>[0]): string {
  const type = propertiesOf(schema).find(([name]) => name === "type")?.[1];
  return String((type === undefined ? null : choicesOf(type))?.[0]);
}
