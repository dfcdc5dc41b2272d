import { expect, onTestFinished, test } from "vitest";
import { serverFor, serveWindow } from "../context/small-window.fixture.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { plainTool, startScripted, toolList } from "./mcp/mcp-servers.ts";

const WINDOW = 4096;
const names = Array.from({ length: 40 }, (_, index) => `report_${index}`);

async function serveTools(window: number) {
  const description = `Reports what the gauges of a river measured. ${"Units are metres and seconds. ".repeat(6)}`;
  const tools = names.map((name, index) =>
    plainTool(name, { description: `${description} River ${index}.`, annotations: { readOnlyHint: true } }),
  );
  const [model, mcp] = await Promise.all([
    serveWindow(window),
    startScripted({ "tools/list": () => toolList([...tools, plainTool("heron_count", { description: "Herons." })]) }),
  ]);
  const server = await serverFor(model, { MODEL_CONTEXT_WINDOW: String(window), EGRESS_ALLOW: "127.0.0.1" });
  const tool = { type: "mcp", server_label: "lab", server_url: mcp.url, require_approval: "never" };
  onTestFinished(() => model.play([]));
  const offered = () => model.asked.map((body) => body.tools?.map((one) => one.function.name) ?? []);
  const create = async (members: object) =>
    await readResponse(await server.post("/v1/responses", { model: "m", input: "Hi", tools: [tool], ...members }));
  return { model, server, create, offered };
}

test("forty MCP tools do not fill a small window: the model finds them by a search", async () => {
  verifies("tools.descriptions.fit-the-window");
  const { model, server, create, offered } = await serveTools(WINDOW);
  model.play([[["find_tools", { query: "herons" }]], [["lab__heron_count", {}]], "Two."]);
  const first = await create({});
  expect(first.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "mcp_call", "message"]);
  expect(model.sizes[0]).toBeLessThan(WINDOW / 4);
  expect(offered()).toEqual([["find_tools"], ["lab__heron_count", "find_tools"], ["lab__heron_count", "find_tools"]]);
  const notes: { notes: readonly { why: string }[] } = JSON.parse(
    await (await server.fetch(`/v1/responses/${first.id}/exchanges`)).text(),
  );
  expect(notes.notes.map(({ why }) => why).join(" ")).toContain("finds 41 tools of MCP servers by a search");
  model.play(["Two."]);
  await create({ previous_response_id: first.id }); // What was called before is offered at once.
  expect(offered()).toEqual([["lab__heron_count", "find_tools"]]);
});

test.each([
  [32_768, {}, 41],
  [8192, {}, 1],
  [8192, { tool_choice: { type: "mcp", server_label: "lab", name: "heron_count" } }, 41],
])("in a window of %i tokens, with %j, %i tools are offered", async (window, members, count) => {
  const { model, create, offered } = await serveTools(window);
  model.play(["Two."]);
  await create(members);
  expect(offered()[0]).toHaveLength(count);
});
