import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { type ReadStream, readResponse, readStream } from "../responses/read-stream.ts";
import { readLive } from "../runs/live-stream.ts";
import { startScripted, toolList } from "../tools/mcp/mcp-servers.ts";
import { hasLlamaCpp, type LlamaCpp, MODEL, startLlamaCpp, WINDOW } from "./llama-cpp.ts";

/** Arguments that a grammar can force a model of random weights to write. */
const PLACE = {
  type: "object",
  properties: { place: { type: "string", enum: ["sea", "sky"] } },
  required: ["place"],
  additionalProperties: false,
} as const;
const LOOK = { type: "function", name: "look", description: "Looks there.", strict: true, parameters: PLACE } as const;
const ARGUMENTS = /^\s*\{\s*"place"\s*:\s*"(sea|sky)"\s*\}\s*$/;

describe.skipIf(!hasLlamaCpp)("the server of llama-cpp-python", () => {
  let llama: LlamaCpp;
  let server: TestServer;
  beforeAll(async () => {
    llama = await startLlamaCpp();
    server = await startTestServer({ env: { MODEL_BASE_URL: llama.baseUrl, EGRESS_ALLOW: "127.0.0.1" } });
  });
  afterAll(async () => {
    await server.close();
    await llama.kill();
  });

  const ask = (members: object, at = server): Promise<Response> =>
    at.post("/v1/responses", { model: MODEL, input: "the tide", max_output_tokens: 32, ...members });
  const plain = async (members: object): Promise<ResponseBody> => await readResponse(await ask(members));
  const streamed = async (members: object): Promise<ReadStream> => {
    const stream = await readStream(await ask({ ...members, stream: true }));
    checkStreamLaws(stream);
    return stream;
  };

  test("tells its model", async () => {
    expect(await (await server.fetch("/v1/models")).json()).toMatchObject({ data: [{ id: MODEL }] });
  });

  test("says the same streamed and plain, to the limit of tokens", async () => {
    const cold = { temperature: 0 };
    const [response, stream] = [await plain(cold), await streamed(cold)];
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(textOf(response)).toMatch(/^( [a-z]+)+$/);
    expect(textOf(stream.final)).toBe(textOf(response));
    expect(stream.events.filter(({ type }) => type === "response.output_text.delta").length).toBeGreaterThan(20);
    expect(stream.final.usage).toEqual(response.usage);
  });

  test("goes on from a chain, and in the background", async () => {
    const first = await plain({});
    const second = await plain({ previous_response_id: first.id, input: "and then" });
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0);
    const stream = await readStream(await ask({ background: true, stream: true }));
    expect(stream.final).toMatchObject({ status: "incomplete", background: true });
  });

  test("answers several at once, one after the other", async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => streamed({})));
    expect(streams.map(({ final }) => final.status)).toEqual(streams.map(() => "incomplete"));
  });

  test("may speak where tools are only offered", async () => {
    const { final } = await streamed({ tools: [LOOK] });
    expect(final.output.map(({ type }) => type)).toEqual(["message"]);
  });

  test.each([true, false])("calls a function of the client that it is made to call, streamed: %s", async (stream) => {
    const members = { tools: [LOOK], tool_choice: { type: "function", name: "look" }, max_output_tokens: 100 };
    const first = stream ? (await streamed(members)).final : await plain(members);
    expect(first).toMatchObject({ status: "completed", output: [{ type: "function_call", name: "look" }] });
    const [call] = first.output;
    if (call?.type !== "function_call") throw new Error("no function was called");
    expect(call.arguments).toMatch(ARGUMENTS);
    const output = { type: "function_call_output", call_id: call.call_id, output: "blue" };
    const second = await plain({ previous_response_id: first.id, input: [output], tools: [LOOK] });
    expect(second.output.map(({ type }) => type)).toEqual(["message"]);
  });

  test.each([true, false])("calls a tool of an MCP server, and then speaks, streamed: %s", async (stream) => {
    const seen: unknown[] = [];
    const mcp = await startScripted({
      "tools/list": () => toolList([{ name: "look", description: "Looks there.", inputSchema: PLACE }]),
      "tools/call": ({ params }) => {
        seen.push(params?.["arguments"]);
        return { result: { content: [{ type: "text", text: "blue" }] } };
      },
    });
    const tool = { type: "mcp", server_label: "eyes", server_url: mcp.url, require_approval: "never" };
    const members = {
      tools: [tool, { ...LOOK, name: "own_look" }],
      tool_choice: { type: "mcp", server_label: "eyes", name: "look" },
      max_output_tokens: 100,
    };
    const final = stream ? (await streamed(members)).final : await plain(members);
    expect(final.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
    const call = final.output[1];
    expect(call).toMatchObject({ type: "mcp_call", name: "look", output: "blue", error: null });
    expect(call?.type === "mcp_call" && call.arguments).toMatch(ARGUMENTS);
    expect(seen).toEqual([{ place: expect.stringMatching(/^(sea|sky)$/) }]);
  });

  test("gives JSON of a strict schema, though it does not know that format", async () => {
    const format = { type: "json_schema", name: "place", schema: PLACE, strict: true };
    const response = await plain({ text: { format }, max_output_tokens: 100 });
    expect(textOf(response)).toMatch(ARGUMENTS);
  });

  test("sends nothing for a text that is longer than its window, and the response fails", async () => {
    const reply = await ask({ input: "tide ".repeat(3 * WINDOW) });
    expect(await reply.json()).toMatchObject({ error: { code: "server_error" } });
  });

  test("that is killed while it speaks fails the response", async () => {
    const mortal = await startLlamaCpp();
    const before = await startTestServer({ env: { MODEL_BASE_URL: mortal.baseUrl } });
    const reply = await ask({ stream: true, max_output_tokens: WINDOW - 100 }, before);
    const live = readLive(reply);
    await live.id;
    await mortal.kill();
    const stream = await live.whole;
    expect(stream.final).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect((await ask({}, before)).status).toBe(502);
  });
});

function textOf({ output }: ResponseBody): string {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.map((part) => (part.type === "output_text" ? part.text : "")).join("");
}
