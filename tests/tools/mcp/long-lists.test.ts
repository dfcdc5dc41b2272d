import type { McpListTools } from "@antiphon/contracts/responses-api/types.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { expect, test } from "vitest";
import { startTestServer } from "../../kit/test-server.ts";
import { verifies } from "../../verifies.ts";
import { plainTool, startModern, startScripted, toolList } from "./mcp-servers.ts";
import { mcpInput, opened } from "./opened-tool.ts";

const TOO_MANY = 10_001;

test("a server that lists more than 10,000 tools is refused, however few of them are allowed", async () => {
  verifies("tools.mcp.list-maxima");
  const page = Array.from({ length: 5001 }, (_, index) => plainTool(`tool_${index}`));
  const pages = [toolList(page, "next"), toolList(page)];
  const server = await startScripted({
    "tools/list": ({ params }) => pages[params?.["cursor"] === "next" ? 1 : 0],
  });
  const tool = mcpInput({ server_url: server.url, allowed_tools: ["tool_1"] });
  const failure: unknown = await opened(tool).catch((error: unknown) => error);
  if (!(failure instanceof ModelError)) throw new Error("the list was taken");
  expect(failure).toMatchObject({ status: 424, param: "tools" });
  expect(failure.message).toContain("more than 10000 tools");
});

test("a list that a client sends back offers no more tools than one of a server", async () => {
  const tools = Array.from({ length: 3 }, (_, index) => ({
    name: `tool_${index}`,
    input_schema: {},
    annotations: null,
    description: null,
  }));
  const context: McpListTools[] = [{ id: "mcpl_1", type: "mcp_list_tools", server_label: "shop", tools }];
  const more = { context, options: { toolsMax: 2 } };
  const tool = mcpInput({ server_url: "http://127.0.0.1:9/" });
  await expect(opened(tool, more)).rejects.toMatchObject({ status: 400, param: "tools" });
  expect((await opened({ ...tool, allowed_tools: ["tool_1"] }, more)).functions).toHaveLength(1);
});

test("a request that names more than 10,000 tools of a server is refused before the server is asked", async () => {
  verifies("tools.mcp.list-maxima");
  const mcp = await startModern();
  const server = await startTestServer({ env: { EGRESS_ALLOW: "127.0.0.1" } });
  const names = Array.from({ length: TOO_MANY }, (_, index) => `tool_${index}`);
  for (const filter of [
    { allowed_tools: names },
    { allowed_tools: { tool_names: names } },
    { require_approval: { never: { tool_names: names } } },
  ]) {
    const tools = [{ type: "mcp", server_label: "shop", server_url: mcp.url, ...filter }];
    const reply = await server.post("/v1/responses", { model: "antiphon-built-in", input: "hi", tools });
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining("tools[0]")]);
  }
  expect(mcp.heard).toEqual([]);
});
