import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { docxOf, paragraph } from "../responses/office-samples.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const SEARCH = { type: "web_search" };

/** A server whose model opens an address that its input names, and what its model was asked. */
async function serveReader(env: Readonly<Record<string, string>> = {}) {
  const asked: string[] = [];
  const upstream = await serveChat((response, { path, body }) => {
    if (!path.endsWith("/chat/completions")) return void response.writeHead(404).end();
    asked.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const url = /Read (http\S+?)"/.exec(body)?.[1];
    const isOpened = url === undefined || body.includes('"role":"tool"');
    response.end(sse(...(isOpened ? [textChunk("Read."), lastChunk("stop")] : opening(url)), "[DONE]"));
  });
  const server = await startTestServer({
    env: { MODEL_BASE_URL: `${upstream.origin}/v1`, EGRESS_ALLOW: "127.0.0.1", ...env },
  });
  return { server, asked };
}

function opening(url: string) {
  const call = { id: "call_1", type: "function", function: { name: "open_page", arguments: JSON.stringify({ url }) } };
  return [toolDelta(0, call), lastChunk("tool_calls")];
}

async function create(server: TestServer, members: object): Promise<Response> {
  return await server.post("/v1/responses", { model: "m", input: "Hello", tools: [SEARCH], ...members });
}

/** The names of the functions that the model was offered. */
function offered(body: string | undefined): unknown {
  const request: unknown = JSON.parse(body ?? "null");
  const tools = isRecord(request) && Array.isArray(request["tools"]) ? request["tools"] : [];
  return tools.map((tool) => tool.function.name);
}

test("without a search server a model opens pages and documents, and hears that it cannot search", async () => {
  verifies("tools.web.pages-without-search");
  const document = docxOf(paragraph("Herons wait in shallow water."));
  const site = await serveHttp((request, response) => {
    if (request.url === "/herons.docx") response.setHeader("content-type", DOCX).end(document);
    else if (request.url === "/unnamed") response.setHeader("content-type", "application/octet-stream").end(document);
    else response.setHeader("content-type", "text/html").end("<title>Herons</title><p>Herons wait.</p>");
  });
  const { server, asked } = await serveReader();
  for (const [path, text] of [
    ["/herons", "Herons wait."],
    ["/herons.docx", "Herons wait in shallow water."],
    ["/unnamed", "Herons wait in shallow water."],
  ] as const) {
    const reply = await create(server, { input: `Read ${site.url}${path}` });
    expect(reply.headers.get("x-antiphon-omitted-tools")).toBeNull();
    const { output } = await readResponse(reply);
    expect(output[0]).toMatchObject({ type: "web_search_call", status: "completed", action: { type: "open_page" } });
    expect(asked.at(-1)).toContain(text);
  }
  expect(offered(asked[0])).toEqual(["open_page", "find_in_page"]);
  expect(asked[0]).toContain("Nothing can be searched for here.");
});

test("without a search server a request that needs a search is told so", async () => {
  verifies("tools.web.pages-without-search");
  const { server, asked } = await serveReader();
  const forced = await create(server, { tool_choice: SEARCH });
  expect([forced.status, await forced.text()]).toEqual([400, expect.stringContaining("WEB_SEARCH_PROVIDER")]);
  expect(asked).toHaveLength(0);
  for (const tool of [
    { type: "web_search_preview" },
    { ...SEARCH, external_web_access: false },
    { ...SEARCH, first_query: "herons" },
  ]) {
    const reply = await create(server, { tools: [tool] });
    expect([reply.status, reply.headers.get("x-antiphon-omitted-tools")]).toEqual([200, tool.type]);
  }
  const { id } = await readResponse(await create(server, {}));
  const { notes }: { notes: readonly object[] } = await (await server.fetch(`/v1/responses/${id}/exchanges`)).json();
  expect(notes).toContainEqual({ kind: "omitted", what: "tools[0]", why: expect.stringContaining("no web search") });
});

test("pages are off with WEB_OPEN=off, and refused with TOOLS_UNAVAILABLE=refuse", async () => {
  const off = await serveReader({ WEB_OPEN: "off" });
  expect((await create(off.server, {})).headers.get("x-antiphon-omitted-tools")).toBe("web_search");
  const strict = await serveReader({ TOOLS_UNAVAILABLE: "refuse" });
  expect((await create(strict.server, {})).status).toBe(400);
});
