import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataLines } from "../kit/event-stream.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

let server: TestServer;
let path: string;
let lines: readonly string[];

beforeAll(async () => {
  server = await startTestServer();
  const made = { model: "antiphon-built-in", input: "count to 20", background: true, stream: true };
  const stream = await readStream(await server.post("/v1/responses", made));
  path = `/v1/responses/${stream.final.id}`;
  lines = dataLines(stream.text);
});
afterAll(() => server.close());

/** Sends a GET with a body, as openai-go does; `fetch` cannot. */
async function get(where: string, body: string, type = "application/json"): Promise<{ status: number; said: string }> {
  const headers = { authorization: `Bearer ${server.apiKey}`, "content-type": type, "content-length": body.length };
  const asked = request(server.url + where, { method: "GET", headers }).end(body);
  const [reply] = await once(asked, "response");
  return { status: reply.statusCode, said: await text(reply) };
}

describe("a GET of a response with a JSON body", () => {
  verifies("responses.replay.query-in-the-body");

  test("is streamed if the body says so", async () => {
    const { status, said } = await get(path, '{"stream":true}');
    expect([status, dataLines(said)]).toEqual([200, lines]);
  });

  test("starts after the number in the body", async () => {
    const { said } = await get(path, '{"stream":true,"starting_after":3,"include_obfuscation":false}');
    expect(dataLines(said)).toEqual(lines.slice(4));
  });

  test("follows the URL if both name a parameter", async () => {
    expect(dataLines((await get(`${path}?starting_after=5`, '{"stream":true,"starting_after":3}')).said)).toEqual(
      lines.slice(6),
    );
    expect(JSON.parse((await get(`${path}?stream=false`, '{"stream":true}')).said)).toMatchObject({
      object: "response",
    });
  });

  test("is plain if the body does not mention stream", async () => {
    for (const [body, type] of [
      ["{}", "application/json"],
      ["null", "application/json"],
      ['{"unknown":[1,{}]}', "application/json"],
      ["stream=true", "text/plain"],
    ] as const)
      expect(JSON.parse((await get(path, body, type)).said)).toMatchObject({ object: "response" });
  });

  test.each([
    ['{"stream":"maybe"}', 400, /'stream'/],
    ['{"stream":{}}', 400, /'stream'/],
    ['{"stream":true,"starting_after":-1}', 400, /'starting_after'/],
    ['{"stream":', 400, /JSON/],
    [`{"x":"${"x".repeat(70_000)}"}`, 413, /65536/],
  ])("is refused with its reason: %s", async (body, status, message) => {
    const reply = await get(path, body);
    expect([reply.status, JSON.parse(reply.said).error.message]).toEqual([status, expect.stringMatching(message)]);
  });
});
