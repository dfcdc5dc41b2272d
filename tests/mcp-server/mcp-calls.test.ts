import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { sendJson } from "../kit/http-answers.ts";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

/** The protocols before and since the revision of 2026-07-28. */
const PROTOCOLS = ["legacy", "auto"] as const;
type Protocol = (typeof PROTOCOLS)[number];
const HELLO = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
const MCP_TYPES = { accept: "application/json, text/event-stream", "content-type": "application/json" };

interface Connected {
  readonly url: string;
  readonly apiKey: string;
}

async function connect({ url, apiKey }: Connected, mode: Protocol = "auto"): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

interface SearchServer {
  /** The settings of a server that searches with it. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when a question with this word has come. */
  readonly asked: (word: string) => Promise<void>;
  /** Resolves when the connection of a question with this word has closed without an answer. */
  readonly left: (word: string) => Promise<void>;
  /** Answers the questions that wait. */
  readonly release: () => void;
}

/** A server like SearXNG. It keeps questions with the word `slow` waiting. */
async function searchServer(): Promise<SearchServer> {
  const gate = Promise.withResolvers<void>();
  const marks = new Map<string, PromiseWithResolvers<void>>();
  const mark = (name: string): PromiseWithResolvers<void> => {
    const known = marks.get(name) ?? Promise.withResolvers<void>();
    marks.set(name, known);
    return known;
  };
  const { url } = await serveHttp((request, response) => {
    const query = new URL(request.url ?? "/", "http://127.0.0.1").searchParams.get("q") ?? "";
    const hit = { url: "https://birds.test/herons", title: "All of herons", content: `About ${query}.` };
    const answer = (): void => sendJson(response, { results: [hit] });
    for (const word of query.split(" ")) mark(`asked ${word}`).resolve();
    response.once("close", () => {
      if (!response.writableEnded) for (const word of query.split(" ")) mark(`left ${word}`).resolve();
    });
    if (query.includes("slow")) void gate.promise.then(answer);
    else answer();
  });
  return {
    env: { WEB_SEARCH_PROVIDER: "searxng", WEB_SEARCH_BASE_URL: url, EGRESS_ALLOW: "127.0.0.1" },
    asked: (word) => mark(`asked ${word}`).promise,
    left: (word) => mark(`left ${word}`).promise,
    release: gate.resolve,
  };
}

function search(...queries: readonly string[]) {
  return { name: "web_search", arguments: { queries } };
}

function textIn(result: Awaited<ReturnType<Client["callTool"]>>): string {
  return result.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

async function send(server: TestServer, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return await server.fetch("/mcp", {
    method: "POST",
    headers: { ...MCP_TYPES, ...headers },
    body: JSON.stringify(body),
  });
}

test.each(PROTOCOLS)("a client (%s) searches the web and hears that the call goes on", async (protocol) => {
  verifies("mcp-server.protocols.both");
  const client = await connect(await startTestServer({ env: (await searchServer()).env }), protocol);
  const steps: unknown[] = [];
  const onprogress = ({ message }: { readonly message?: string | undefined }): void => void steps.push(message);
  const found = await client.callTool(search("heron water"), { onprogress });
  expect(textIn(found)).toContain("https://birds.test/herons");
  expect(textIn(found)).toContain("About heron water.");
  expect(steps.length).toBeGreaterThan(0);
});

test("a page of another origin is refused, unless CORS_ORIGINS names it", async () => {
  verifies("mcp-server.access.origin-is-checked");
  const server = await startTestServer({ env: { CORS_ORIGINS: "https://ours.test" } });
  const foreign = await send(server, HELLO, { origin: "https://theirs.test" });
  expect([foreign.status, await foreign.json()]).toMatchObject([403, { error: { code: "origin_not_allowed" } }]);
  expect((await send(server, HELLO, { origin: "https://ours.test" })).status).toBe(200);
});

test.each(PROTOCOLS)("a client (%s) that cancels a call or leaves stops its work", async (protocol) => {
  verifies("mcp-server.calls.stop-with-the-client");
  const searching = await searchServer();
  const client = await connect(await startTestServer({ env: searching.env }), protocol);
  const cancelling = new AbortController();
  const cancelled = client.callTool(search("slow first"), { signal: cancelling.signal });
  await searching.asked("first");
  cancelling.abort(new Error("no longer wanted"));
  await expect(cancelled).rejects.toThrow("no longer wanted");
  await searching.left("first");
  const lost = client.callTool(search("slow second")).catch(() => "gone");
  await searching.asked("second");
  await client.close();
  await searching.left("second");
  expect(await lost).toBe("gone");
});

test("a project has at most 32 requests at once, and further ones when these have ended", async () => {
  verifies("mcp-server.calls.are-bounded");
  const searching = await searchServer();
  const client = await connect(await startTestServer({ env: searching.env }));
  const refused = Promise.withResolvers<string>();
  const calls = Array.from({ length: 33 }, (_, at) =>
    client.callTool(search(`slow ${at}`)).then(
      (result) => textIn(result),
      (error: unknown) => {
        refused.resolve(String(error));
        return null;
      },
    ),
  );
  expect(await refused.promise).toContain("too many requests under way");
  searching.release();
  const texts = await Promise.all(calls);
  expect(texts.filter((text) => text?.includes("About slow") === true)).toHaveLength(32);
  expect(textIn(await client.callTool(search("fast")))).toContain("About fast");
});
