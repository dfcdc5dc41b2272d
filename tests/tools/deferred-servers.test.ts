import { expect, test } from "vitest";
import { lastChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { calls, MCP, saysText, serveScript } from "./behind-script.ts";

const DEFERRED = { ...MCP, defer_loading: true, server_description: "Experiments of the laboratory." };
const SEARCH = { type: "tool_search" };

function searches(query: string) {
  const called = { name: "tool_search", arguments: JSON.stringify({ query }) };
  return [toolDelta(0, { id: "call_s", type: "function", function: called }), lastChunk("tool_calls")];
}

test("an MCP server that is deferred is offered once a search has found it", async () => {
  verifies("tools.search.holds-back-mcp-servers");
  const { create, asked } = await serveScript([
    searches("experiments"),
    calls(["echo", '{"text":"a"}']),
    saysText("Done."),
  ]);
  const tools = [SEARCH, DEFERRED];
  const stream = await readStream(await create({ stream: true, tools }));
  checkStreamLaws(stream);
  const offered = asked.map((request) => (request.tools ?? []).map((tool) => tool.function.name));
  expect(offered[0]).toEqual(["tool_search"]);
  expect(offered[1]).toContain("lab__echo");
  const { output } = stream.final;
  expect(output.map(({ type }) => type)).toEqual([
    "mcp_list_tools",
    "tool_search_call",
    "tool_search_output",
    "mcp_call",
    "message",
  ]);
  expect(output[1]).toMatchObject({ arguments: { paths: ["lab"] } });
  const found = output[2]?.type === "tool_search_output" ? output[2].tools : [];
  expect(found).toMatchObject([{ type: "mcp", server_label: "lab", server_url: "https://lab.test/<redacted>" }]);
  // What was found stays offered, by the chain and by value.
  await readResponse(await create({ tools, previous_response_id: stream.final.id }));
  await readResponse(await create({ tools, input: [{ role: "user", content: "Hi" }, ...output] }));
  for (const request of asked.slice(3))
    expect((request.tools ?? []).map((tool) => tool.function.name)).toContain("lab__echo");
});

test("it is offered at once without a search of the server, and if tool_choice names it", async () => {
  const { create, asked } = await serveScript([saysText("Done.")]);
  await readResponse(await create({ tools: [DEFERRED] }));
  const choice = { type: "mcp", server_label: "lab", name: "echo" };
  await readResponse(await create({ tools: [SEARCH, DEFERRED], tool_choice: choice }));
  for (const request of asked) expect((request.tools ?? []).map((tool) => tool.function.name)).toContain("lab__echo");
});
