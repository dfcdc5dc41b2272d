import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { chunks, says, serveBehind, UPSTREAM_KEY, usageChunk } from "../responses/behind-upstream.ts";
import { calls, saysText } from "../tools/behind-script.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { verifies } from "../verifies.ts";

const KEPT = { KEEP_EXCHANGES: "stored" };
const USAGE = usageChunk({ prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 });

function clientOf({ url, apiKey }: { readonly url: string; readonly apiKey: string }): Antiphon {
  return new Antiphon({ baseUrl: url, apiKey });
}

async function kept(client: Antiphon, id: string, count: number) {
  await expect.poll(async () => (await client.listResponseExchanges(id)).data.length).toBe(count);
  return await client.listResponseExchanges(id);
}

test("the bytes of a call of the model are kept as they were sent and received", async () => {
  verifies("inspection.exchanges.bytes");
  const { server, upstream } = await serveBehind(chunks(textChunk("Hé"), lastChunk("stop"), USAGE), KEPT);
  const client = clientOf(server);
  for (const stream of [false, true] as const) {
    const made = await client.createResponse({ model: "m", input: "Hi", stream });
    let id = "id" in made ? made.id : "";
    if (!("id" in made)) for await (const event of made) if (event.type === "response.created") id = event.response.id;
    const { data, is_kept, is_complete, notes } = await kept(client, id, 1);
    expect({ is_kept, is_complete, notes }).toEqual({ is_kept: true, is_complete: true, notes: [] });
    expect(data[0]).toMatchObject({
      object: "response.exchange",
      kind: "model",
      turn: 1,
      error: null,
      first_byte_ms: expect.any(Number),
      request: {
        method: "POST",
        url: `${upstream.origin}/v1/chat/completions`,
        headers: { "content-type": "application/json", authorization: "[redacted]" },
        body: { encoding: "utf-8", text: upstream.calls.at(-1)?.body, is_truncated: false },
      },
      response: { status: 200, headers: { "content-type": "text/event-stream" } },
    });
    const text = data[0]?.response?.body.text ?? "";
    expect(text.split("\n\n").slice(0, 1)).toEqual([`data: ${JSON.stringify(textChunk("Hé"))}`]);
    expect(text).toContain("data: [DONE]");
    expect(data[0]?.response?.body.bytes).toBe(Buffer.byteLength(text));
  }
});

test("no secret is kept, though the other server repeats it", async () => {
  verifies("inspection.exchanges.no-secrets");
  const { server } = await serveBehind((response, { headers }) => {
    response.writeHead(401, { "content-type": "application/json", "set-cookie": "session=abcdefgh" });
    response.end(JSON.stringify({ error: { message: `Wrong key ${String(headers.authorization)}` } }));
  }, KEPT);
  const client = clientOf(server);
  const { id } = await client.createResponse({ model: "m", input: "Hi", background: true });
  const { data } = await kept(client, id, 1);
  expect(data[0]?.response).toMatchObject({ status: 401, headers: { "set-cookie": "[redacted]" } });
  expect(data[0]?.response?.body.text).toContain("Wrong key [redacted]");
  expect(JSON.stringify(data)).not.toContain(UPSTREAM_KEY);
  expect(JSON.stringify(data)).not.toContain("abcdefgh");
});

test("calls of an MCP server are kept between the turns of the model, without its authorization", async () => {
  verifies("inspection.exchanges.tools", "inspection.exchanges.no-secrets");
  const mcp = await startModern();
  let turn = 0;
  const { server } = await serveBehind(
    (response) => {
      const said = [calls(["pay", '{"amount":3}']), saysText("Paid.")][turn++] ?? [];
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end([...said.map((one) => `data: ${JSON.stringify(one)}`), "data: [DONE]", ""].join("\n\n"));
    },
    { ...KEPT, EGRESS_ALLOW: "127.0.0.1", EGRESS_PORTS: new URL(mcp.url).port },
  );
  const client = clientOf(server);
  const { id } = await client.createResponse({
    model: "m",
    input: "Pay",
    tools: [
      {
        type: "mcp",
        server_label: "lab",
        server_url: `${mcp.url}?token=in-the-query-1`,
        authorization: "secret-token-1",
        headers: { "x-team": "team-secret" },
        require_approval: "never",
      },
    ],
  });
  await expect
    .poll(async () => (await client.listResponseExchanges(id)).data.filter(({ kind }) => kind === "model").length)
    .toBe(2);
  const { data } = await client.listResponseExchanges(id);
  expect(data.filter(({ kind }) => kind === "model").map(({ turn: number }) => number)).toEqual([1, 2]);
  const paid = data.find(({ request }) => request.body.text.includes('"amount":3') && request.url.includes("/mcp"));
  expect(paid).toMatchObject({ kind: "mcp", turn: 1, request: { headers: { authorization: "[redacted]" } } });
  expect(paid?.request.url).toBe(`${mcp.url}?token=[redacted]`);
  expect(paid?.request.body.text).toContain('"method":"tools/call"');
  expect(paid?.response?.body.text).toContain("paid 3");
  const all = JSON.stringify(data);
  for (const secret of ["secret-token-1", "team-secret", "in-the-query-1"]) expect(all).not.toContain(secret);
});

test("nothing is kept unless the setting says so, nor of responses that are not stored", async () => {
  verifies("inspection.exchanges.only-where-asked");
  const silent = clientOf((await serveBehind(says("Hello"))).server);
  const { id } = await silent.createResponse({ model: "m", input: "Hi" });
  expect(await silent.listResponseExchanges(id)).toMatchObject({ data: [], is_kept: false });
  const client = clientOf((await serveBehind(says("Hello"), KEPT)).server);
  const unstored = await client.createResponse({ model: "m", input: "Hi", store: false });
  await expect(client.listResponseExchanges(unstored.id)).rejects.toMatchObject({ status: 404 });
});

test("they are deleted alone, or with their response", async () => {
  verifies("inspection.exchanges.deleted");
  const { server } = await serveBehind(says("Hello"), KEPT);
  const client = clientOf(server);
  const { id } = await client.createResponse({ model: "m", input: "Hi" });
  await kept(client, id, 1);
  expect(await client.deleteResponseExchanges(id)).toEqual({ id, object: "response.exchanges.deleted", deleted: true });
  expect(await client.listResponseExchanges(id)).toMatchObject({ data: [], is_kept: true });
  expect((await client.getResponse(id)).status).toBe("completed");
  const other = await client.createResponse({ model: "m", input: "Hi" });
  await kept(client, other.id, 1);
  await client.deleteResponse(other.id);
  await expect(client.listResponseExchanges(other.id)).rejects.toMatchObject({ status: 404 });
  await expect(client.deleteResponseExchanges(other.id)).rejects.toMatchObject({ status: 404 });
});

test("long bodies are cut and say so", async () => {
  verifies("inspection.exchanges.bounded");
  const { server } = await serveBehind(says("x".repeat(400_000)), KEPT);
  const client = clientOf(server);
  const { id } = await client.createResponse({ model: "m", input: "y".repeat(300_000) });
  const { data, is_complete } = await kept(client, id, 1);
  expect(is_complete).toBe(false);
  for (const body of [data[0]?.request.body, data[0]?.response?.body]) {
    expect(body?.is_truncated).toBe(true);
    expect(body?.text.length).toBe(256 * 1024);
    expect(body?.bytes).toBeGreaterThan(300_000);
  }
});
