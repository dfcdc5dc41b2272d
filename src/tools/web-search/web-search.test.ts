import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { OpenTool, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import { createEgress } from "@antiphon/egress/egress.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { runCall, toolScope, USER } from "../tool-scope.fixture.ts";
import { PageReader } from "./pages/page-reader.ts";
import type { ProviderOptions } from "./providers/ask-provider.ts";
import { brave } from "./providers/brave.ts";
import { exa } from "./providers/exa.ts";
import { mediawiki } from "./providers/mediawiki.ts";
import type { SearchProvider } from "./providers/search-provider.ts";
import { searxng } from "./providers/searxng.ts";
import { serper } from "./providers/serper.ts";
import { tavily } from "./providers/tavily.ts";
import { SearchCache } from "./search-cache.ts";
import { webSearchTool } from "./web-search-tool.ts";
import type { WebServices } from "./web-session.ts";
import type { WebSearchInput } from "./web-settings.ts";

/** What the server at the address of the search server is asked, and what it answers. */
let asked: { url: URL; headers: IncomingMessage["headers"]; body: unknown }[] = [];
let answer: { status: number; body: string } = { status: 200, body: "{}" };
let origin = "";
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  origin = `http://127.0.0.1:${address.port}`;
});
beforeEach(() => {
  asked = [];
  answer = { status: 200, body: "{}" };
});
afterAll(() => void server.close());

const PAGES: Readonly<Record<string, string>> = {
  "/herons": `<title>Herons</title><article><h1>Herons</h1>${"<p>A heron stands in the shallow water and waits for a fish to come near.</p>".repeat(6)}<p>It eats <a href="/fish">many fish</a>.</p></article>`,
  "/app": '<title>App</title><div id="root">Loading</div><script src="/app.js"></script>',
  "/fish": "<title>Fish</title><p>Fish swim.</p>",
};

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", origin);
  const page = PAGES[url.pathname];
  if (page !== undefined) {
    response.setHeader("content-type", "text/html; charset=utf-8").end(page);
    return;
  }
  if (url.pathname === "/gone") {
    response.writeHead(404).end();
    return;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const body = Buffer.concat(chunks).toString();
  asked.push({ url, headers: request.headers, body: body === "" ? null : JSON.parse(body) });
  response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
}

const HIT = { title: "Herons &amp; <b>fish</b>", url: "http://127.0.0.1/herons" };

describe("the search servers", () => {
  const query = { text: "herons", count: 5, domains: ["birds.example"], country: "DE", recency: "week" } as const;
  const expected = [{ url: HIT.url, title: "Herons & fish", snippet: "They wait.", date: "2026-01-02" }];

  it("SearXNG is asked by GET with a site and a time range", async () => {
    answer.body = JSON.stringify({ results: [{ ...HIT, content: "They wait.", publishedDate: "2026-01-02" }] });
    expect(await search(searxng, query)).toStrictEqual(expected);
    expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toStrictEqual({
      q: "herons site:birds.example",
      format: "json",
      time_range: "week",
      language: "de-DE",
    });
  });

  it.each([
    ["GB", "en-GB"],
    ["ZZ", undefined],
    ["1", undefined],
    [null, undefined],
  ])("SearXNG gets the country %s as the locale %s", async (country, language) => {
    await search(searxng, { ...query, country });
    expect(asked[0]?.url.searchParams.get("language") ?? undefined).toBe(language);
  });

  it("SearXNG whose engines are all silent is no empty result", async () => {
    answer.body = JSON.stringify({ results: [], unresponsive_engines: [["bing", "timeout"]] });
    await expect(search(searxng, query)).rejects.toThrow("None of the search engines");
  });

  it("Brave is asked by GET with its token", async () => {
    const result = { ...HIT, description: "They <strong>wait</strong>.", page_age: "2026-01-02" };
    answer.body = JSON.stringify({ web: { results: [result] } });
    expect(await search(brave, query)).toStrictEqual(expected);
    expect(asked[0]).toMatchObject({ headers: { "x-subscription-token": "key" } });
    expect(asked[0]?.url.search).toContain("country=DE&freshness=pw");
  });

  it("Tavily is asked by POST with its domains", async () => {
    answer.body = JSON.stringify({ results: [{ ...HIT, content: "They wait.", published_date: "2026-01-02" }] });
    expect(await search(tavily, query)).toStrictEqual(expected);
    expect(asked[0]).toMatchObject({
      headers: { authorization: "Bearer key" },
      body: { query: "herons", max_results: 5, include_domains: ["birds.example"], time_range: "week" },
    });
  });

  it("Exa is asked by POST for the beginning of the texts", async () => {
    answer.body = JSON.stringify({ results: [{ ...HIT, text: "They wait.", publishedDate: "2026-01-02" }] });
    expect(await search(exa, query)).toStrictEqual(expected);
    expect(asked[0]).toMatchObject({
      headers: { "x-api-key": "key" },
      body: { numResults: 5, includeDomains: ["birds.example"], userLocation: "DE" },
    });
  });

  it("Serper is asked by POST and names its links link", async () => {
    const { url: link, title } = HIT;
    answer.body = JSON.stringify({ organic: [{ link, title, snippet: "They wait.", date: "2026-01-02" }] });
    expect(await search(serper, query)).toStrictEqual(expected);
    expect(asked[0]?.body).toStrictEqual({ q: "herons site:birds.example", num: 5, gl: "de", tbs: "qdr:w" });
  });

  it("a wiki is asked without a key, and says where its pages are", async () => {
    const page = {
      title: "Grey heron",
      snippet: 'They <span class="searchmatch">wait</span>.',
      timestamp: "2026-01-02",
    };
    const general = { server: "//birds.example", articlepath: "/wiki/$1" };
    answer.body = JSON.stringify({ query: { general, search: [page] } });
    expect(await search(mediawiki, query)).toStrictEqual([
      { url: "http://birds.example/wiki/Grey_heron", title: "Grey heron", snippet: "They wait.", date: "2026-01-02" },
    ]);
    expect(asked[0]).toMatchObject({ headers: { "user-agent": expect.stringContaining("Antiphon") } });
    expect(Object.fromEntries(asked[0]?.url.searchParams ?? [])).toMatchObject({ srsearch: "herons", srlimit: "5" });
    answer.body = JSON.stringify({ error: { code: "search-disabled" } });
    await expect(search(mediawiki, query)).rejects.toThrow("The wiki refused the search.");
  });

  it.each([
    [401, "", "refused this server's key"],
    [403, "", "search.formats"],
    [429, "", "no more searches for now"],
    [500, "", "failed with status 500"],
    [200, "<html>", "no JSON"],
    [200, `"${"x".repeat(3_000_000)}"`, "no JSON"],
  ])("that answer %i are told apart", async (status, body, sentence) => {
    answer = { status, body };
    await expect(search(searxng, query)).rejects.toThrow(sentence);
  });

  it("that cannot be reached, or are silent, fail with a sentence", async () => {
    const nowhere = searxng({ baseUrl: "http://127.0.0.1:1", apiKey: null, timeoutMs: 1000 });
    await expect(nowhere.search(query, signal())).rejects.toThrow("cannot be reached");
  });

  it("may send hits that are none", async () => {
    answer.body = JSON.stringify({ results: ["x", { url: "javascript:alert(1)", title: "no" }, { title: "no url" }] });
    expect(await search(tavily, query)).toStrictEqual([]);
  });
});

describe("a search", () => {
  beforeEach(() => {
    const results = [
      { ...HIT, url: `${origin}/herons`, content: "They wait." },
      { ...HIT, title: "Elsewhere", url: "https://other.example/a", content: "Other." },
    ];
    answer.body = JSON.stringify({ results });
  });

  it("tells numbered hits to the model and shows its queries", async () => {
    verifies("tools.web.only-searches-are-counted");
    const { outcome, steps } = await call({ type: "web_search" }, "web_search", { queries: ["herons", "fish"] });
    expect(steps).toStrictEqual([{ type: "searching" }]);
    expect(outcome).toMatchObject({
      type: "ran",
      item: {
        id: "ws_1",
        status: "completed",
        action: { type: "search", query: "herons", queries: ["herons", "fish"] },
      },
      sources: [{ type: "web", number: 1, url: `${origin}/herons` }, { number: 2 }],
      usage: { webSearches: 1 },
    });
    expect(outcome.type === "ran" && outcome.output).toContain(`[web:1] Herons & fish\n${origin}/herons\nThey wait.`);
    expect(outcome.type === "ran" && outcome.item).not.toHaveProperty("results");
  });

  it("shows sources and results if they are included", async () => {
    verifies("tools.web.sources-have-titles");
    const include = ["web_search_call.action.sources", "web_search_call.results"];
    const { outcome } = await call({ type: "web_search" }, "web_search", { queries: ["herons"] }, { include });
    expect(outcome).toMatchObject({
      item: {
        action: {
          sources: [
            { type: "url", url: `${origin}/herons`, title: "Herons & fish" },
            { type: "url", url: "https://other.example/a", title: "Elsewhere" },
          ],
        },
        results: [{ title: "Herons & fish", snippet: "They wait." }, { title: "Elsewhere" }],
      },
    });
  });

  it("keeps to the allowed domains, subdomains included", async () => {
    expect(refusal({ type: "web_search", filters: { allowed_domains: ["https://a.example/b"] } })).toMatchObject({
      grade: "invalid",
      member: "filters.allowed_domains",
    });
    const filters = { allowed_domains: ["Other.example"] };
    const { outcome } = await call({ type: "web_search", filters }, "web_search", { queries: ["herons"] });
    expect(outcome).toMatchObject({ sources: [{ url: "https://other.example/a" }] });
  });

  it("shows nothing of blocked domains, subdomains included", async () => {
    expect(refusal({ type: "web_search", filters: { blocked_domains: ["https://a.example/b"] } })).toMatchObject({
      grade: "invalid",
      member: "filters.blocked_domains",
    });
    const filters = { blocked_domains: ["Other.example"] };
    const { outcome } = await call({ type: "web_search", filters }, "web_search", { queries: ["herons"] });
    const urls = outcome.type === "ran" ? outcome.sources.map((source) => ("url" in source ? source.url : "")) : [];
    expect(urls).toHaveLength(1);
    expect(urls).not.toContain("https://other.example/a");
  });

  it("with a high context opens the first pages at once", async () => {
    const tool = { type: "web_search", search_context_size: "high" } as const;
    const { outcome } = await call(tool, "web_search", { queries: ["herons"] });
    expect(outcome.type === "ran" && outcome.output).toContain("waits for a fish to come near");
  });

  it("of which every query fails is a failed item, and the model hears why", async () => {
    verifies("tools.web.failed-search-is-told");
    answer = { status: 429, body: "" };
    const { outcome } = await call({ type: "web_search" }, "web_search", { queries: ["herons"] });
    expect(outcome).toMatchObject({ item: { status: "failed" }, output: expect.stringContaining("Go on without") });
  });

  it("is made once in five minutes for an owner", async () => {
    verifies("tools.web.searches-are-cached");
    answer.body = JSON.stringify({ results: [{ ...HIT, content: "They wait." }] });
    const tool = webSearchTool(services());
    const ask = async (project: string, word: string): Promise<number> => {
      const scope = toolScope({ owner: { organization: "acme", project } });
      const { outcome } = await runCall(await tool.open({ type: "web_search" }, scope), "web_search", {
        queries: [word],
      });
      expect(outcome).toMatchObject({ item: { status: "completed" }, output: expect.stringContaining("They wait.") });
      return asked.length;
    };
    expect([await ask("web", "a"), await ask("web", "a"), await ask("api", "a"), await ask("web", "b")]).toEqual([
      1, 1, 2, 3,
    ]);
    answer = { status: 500, body: "" };
    const failing = async () =>
      await runCall(await tool.open({ type: "web_search" }, toolScope()), "web_search", { queries: ["c"] });
    await failing();
    expect((await failing()).outcome).toMatchObject({ item: { status: "failed" } });
    expect(asked).toHaveLength(5);
  });

  it("of a wiki is described as one of that wiki", async () => {
    const searches = new SearchCache(mediawiki({ baseUrl: "https://wiki.example/w", apiKey: null, timeoutMs: 1 }));
    const open = await webSearchTool({ ...services(), searches }).open({ type: "web_search" }, toolScope());
    expect(open.functions[0]?.description).toMatch(/^Searches the wiki wiki\.example, not the whole web, and/);
  });

  it.each([
    ["no queries", {}],
    ["a number", { queries: 3 }],
    ["empty texts", { queries: [" "] }],
  ])("with %s fails", async (_what, args) => {
    const { outcome } = await call({ type: "web_search" }, "web_search", args);
    expect(outcome).toMatchObject({ item: { status: "failed" }, output: expect.stringContaining("`queries`") });
  });

  it("understands one query that is no list", async () => {
    const { outcome } = await call({ type: "web_search_preview" }, "web_search", { query: "herons" });
    expect(outcome).toMatchObject({ item: { action: { query: "herons" } } });
  });
});

describe("a page", () => {
  it("is opened with line numbers and its links", async () => {
    const { outcome } = await call({ type: "web_search" }, "open_page", { url: `${origin}/herons` });
    expect(outcome).toMatchObject({ item: { action: { type: "open_page", url: `${origin}/herons` } } });
    expect(outcome.type === "ran" && outcome.output).toMatch(/^\[web:1\] Herons\n1: /);
    expect(outcome.type === "ran" && outcome.output).toContain(`- many fish: ${origin}/fish`);
  });

  it("that needs JavaScript says so", async () => {
    const { outcome } = await call({ type: "web_search" }, "open_page", { url: `${origin}/app` });
    expect(outcome.type === "ran" && outcome.output).toMatch(/Loading\n\d+: \[The page makes its text with JavaScript/);
    const whole = await call({ type: "web_search" }, "open_page", { url: `${origin}/fish` });
    expect(whole.outcome.type === "ran" && whole.outcome.output).not.toContain("JavaScript");
  });

  it("is searched for a phrase in any case", async () => {
    const { outcome } = await call({ type: "web_search" }, "find_in_page", {
      url: `${origin}/herons`,
      pattern: "MANY",
    });
    expect(outcome).toMatchObject({ item: { action: { type: "find_in_page", pattern: "MANY" } } });
    expect(outcome.type === "ran" && outcome.output).toMatch(/\d+: It eats many fish/);
  });

  it.each([
    ["that does not exist", "/gone", "404"],
    ["of no server", "http://127.0.0.1:1/", ""],
  ])("%s is a failed item", async (_what, path, sentence) => {
    const { outcome } = await call({ type: "web_search" }, "open_page", { url: new URL(path, origin).href });
    expect(outcome).toMatchObject({ item: { status: "failed" }, output: expect.stringContaining(sentence) });
  });

  it("of the inner network is not opened", async () => {
    const { outcome } = await call({ type: "web_search" }, "open_page", { url: "http://169.254.169.254/latest" });
    expect(outcome).toMatchObject({ item: { status: "failed" } });
  });

  it("is not opened if the request forbids it", async () => {
    const cached = { type: "web_search", external_web_access: false } as const;
    const { outcome } = await call(cached, "open_page", { url: `${origin}/herons` });
    expect(outcome).toMatchObject({ output: expect.stringContaining("not fetched for this request") });
    expect((await opened({ type: "web_search_preview" })).functions.map(({ name }) => name)).toStrictEqual([
      "web_search",
    ]);
  });

  it("beside private tools is opened only if the user or a page named it", async () => {
    const url = `${origin}/herons`;
    const unknown = await call({ type: "web_search" }, "open_page", { url }, { readsPrivately: true });
    expect(unknown.outcome).toMatchObject({
      item: { status: "failed" },
      output: expect.stringContaining("Only pages"),
    });
    const said: StoredItem = {
      id: "msg_1",
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_text", text: `Read ${url}, please.` }],
    };
    const open = await opened({ type: "web_search" }, { readsPrivately: true, context: [said] });
    expect((await runCall(open, "open_page", { url })).outcome).toMatchObject({ item: { status: "completed" } });
    const link = await runCall(open, "open_page", { url: `${origin}/fish` });
    expect(link.outcome).toMatchObject({ item: { status: "completed" } });
  });
});

it("tells the model the date and the place", async () => {
  const user_location = { type: "approximate", city: "Ulm", country: "de", timezone: "Europe/Berlin" } as const;
  const { note } = await opened({ type: "web_search", user_location });
  expect(note).toMatch(/^Today is \w+,? \d+ \w+ \d{4}\. The user is in Ulm, DE\.$/);
});

it("without a search server cannot be had", () => {
  const tool = webSearchTool(null);
  expect(tool.refusal({ type: "web_search" }, USER)).toMatchObject({
    grade: "unavailable",
    reason: expect.stringContaining("WEB_SEARCH_PROVIDER"),
  });
});

function signal(): AbortSignal {
  return new AbortController().signal;
}

function search(make: (options: ProviderOptions) => SearchProvider, query: Parameters<SearchProvider["search"]>[0]) {
  return make({ baseUrl: `${origin}/`, apiKey: "key", timeoutMs: 5000 }).search(query, signal());
}

function services(): WebServices {
  const egress = createEgress({
    policy: { mode: "public", allow: ["127.0.0.1"], deny: [], ports: [] },
    timeouts: { connectMs: 2000, idleMs: 2000, totalMs: 5000 },
    log: silentLogger,
  });
  const provider = searxng({ baseUrl: origin, apiKey: null, timeoutMs: 5000 });
  return { searches: new SearchCache(provider), pages: new PageReader(egress), open: "auto" };
}

function refusal(tool: WebSearchInput) {
  return webSearchTool(services()).refusal(tool, USER);
}

function opened(tool: WebSearchInput, scope: Partial<ToolScope> = {}): Promise<OpenTool> {
  return webSearchTool(services()).open(tool, toolScope(scope));
}

async function call(tool: WebSearchInput, name: string, args: object, scope: Partial<ToolScope> = {}) {
  return await runCall(await opened(tool, scope), name, args);
}
