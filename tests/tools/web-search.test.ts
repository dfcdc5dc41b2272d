import { expect, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer } from "../kit/test-server.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readStream } from "../responses/read-stream.ts";
import { hasSearx, startSearx } from "./searx.ts";

test.skipIf(!hasSearx)("a model searches with a real SearXNG, opens a page, finds a phrase and cites it", async () => {
  const corpus = await serveHttp((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (url.pathname === "/herons") {
      response.setHeader("content-type", "text/html");
      response.end(`<title>Herons</title><article><p>${"Herons wait in shallow water. ".repeat(12)}</p></article>`);
      return;
    }
    const found = url.searchParams.get("q")?.includes("heron") === true;
    const hit = { url: `${corpus.url}/herons`, title: "All of herons", content: "Herons wait in water." };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ results: found ? [hit] : [] }));
  });
  const searx = await startSearx(`${corpus.url}/search?q={query}`);
  const turns = [
    called("web_search", { queries: ["heron water"] }),
    called("open_page", { url: `${corpus.url}/herons` }),
    called("find_in_page", { url: `${corpus.url}/herons`, pattern: "SHALLOW" }),
    [textChunk("They wait.【we"), textChunk("b:1】 Yes."), lastChunk("stop")],
  ];
  const asked: string[] = [];
  const upstream = await serveChat((response, { body }) => {
    const said = turns[asked.length] ?? [];
    asked.push(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(...said, "[DONE]"));
  });
  const server = await startTestServer({
    env: { MODEL_BASE_URL: `${upstream.origin}/v1`, WEB_SEARCH_BASE_URL: searx, EGRESS_ALLOW: "127.0.0.1" },
  });
  const stream = await readStream(
    await server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "m",
        input: "How do herons hunt?",
        stream: true,
        tools: [{ type: "web_search" }],
        include: ["web_search_call.action.sources"],
      }),
    }),
  );
  await server.close();
  checkStreamLaws(stream);
  expect(stream.final.output.map((item) => (item.type === "web_search_call" ? item.action?.type : item.type))).toEqual([
    "search",
    "open_page",
    "find_in_page",
    "message",
  ]);
  expect(stream.final.output[0]).toMatchObject({
    status: "completed",
    action: { query: "heron water", sources: [{ type: "url", url: `${corpus.url}/herons`, title: "All of herons" }] },
  });
  expect(asked[1]).toContain("All of herons");
  expect(asked[2]).toContain("Herons wait in shallow water");
  const cited = `They wait. ([127.0.0.1](${corpus.url}/herons)) Yes.`;
  expect(stream.final.output.at(-1)).toMatchObject({
    content: [
      {
        text: cited,
        annotations: [
          {
            type: "url_citation",
            start_index: 11,
            end_index: cited.indexOf(" Yes"),
            url: `${corpus.url}/herons`,
          },
        ],
      },
    ],
  });
  expect(stream.final.tool_usage.web_search.num_requests).toBe(1);
});

function called(name: string, args: object) {
  return [
    toolDelta(0, { id: "call_1", type: "function", function: { name, arguments: JSON.stringify(args) } }),
    lastChunk("tool_calls"),
  ];
}
