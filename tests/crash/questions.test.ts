import { fileURLToPath } from "node:url";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readResponse } from "../responses/read-stream.ts";
import { startOfficial } from "../tools/mcp/mcp-servers.ts";
import { verifies } from "../verifies.ts";
import { arm } from "./armed.ts";
import { STORED_STEP, until } from "./lives.ts";

const BREAKER = fileURLToPath(new URL("break-at-step.fixture.ts", import.meta.url));
const SIZE = z.object({ size: z.string() });
const SCENARIO = `
scenarios:
  - when: { has_tool_output: false }
    events: [{ call: { name: order, namespace: shop, arguments: { sku: tea } } }]
  - when: { has_tool_output: true }
    events: [{ text: Done. }]
`;

/** A server that asks for a size, and calls `onOrder` when it does. */
async function startShop(onOrder: () => Promise<void>) {
  const runs: string[] = [];
  const { url } = await startOfficial(() => {
    const server = new McpServer({ name: "asking", version: "1.0.0" });
    server.registerTool("order", { inputSchema: z.object({ sku: z.string() }) }, async ({ sku }, { mcpReq }) => {
      const content = acceptedContent(mcpReq.inputResponses, "size", SIZE);
      runs.push(content === undefined ? "asked" : `ordered ${content.size}`);
      if (content !== undefined) return { content: [{ type: "text", text: `${sku} ${content.size}` }] };
      await onOrder();
      return inputRequired({
        inputRequests: { size: inputRequired.elicit({ message: "Which size?", requestedSchema: SIZE }) },
      });
    });
    return server;
  });
  return { url, runs };
}

test.each([
  ["before the question is stored", STORED_STEP.finish, ["mcp_list_tools", "mcp_call", "message"]],
  ["before the question is shown", "response.output_item.done", ["mcp_list_tools", "mcp_call", "mcp_approval_request"]],
])("a process that dies %s leaves a call that is made once", async (_place, killAt, types) => {
  verifies("tools.mcp.questions-pause-a-call");
  const folder = temporaryFolder();
  const start = (text: string): Promise<ChildServer> =>
    startChildServer({
      env: { NODE_ENV: "production", DATA_DIR: folder, EGRESS_ALLOW: "127.0.0.1", KILL_AT: text },
      scenario: SCENARIO,
      flags: ["--import", BREAKER],
    });
  const first = await start(killAt);
  const shop = await startShop(() => arm(first));
  const tool = { type: "mcp", server_label: "shop", server_url: shop.url, require_approval: "never" };
  const common = { model: "antiphon-built-in", background: true, tools: [{ ...tool, elicitation: "ask" }] };
  const { id } = await readResponse(await first.post("/v1/responses", { ...common, input: "Order" }));
  await expect.poll(() => shop.runs).toEqual(["asked"]);
  await expect.poll(() => first.fetch("/healthz").then(null, () => "gone")).toBe("gone");
  await first.kill();
  const next = await start("");
  const asked = await until(next, id, "completed", "failed");
  expect(asked.output.map(({ type }) => type)).toEqual(types);
  expect(shop.runs).toEqual(["asked"]);
  const question = asked.output.at(-1);
  if (question?.type !== "mcp_approval_request") return;
  const answer = { type: "mcp_approval_response", approval_request_id: question.id, approve: true };
  const input = [{ ...answer, reason: '{"size":"large"}' }];
  const going = await next.post("/v1/responses", { ...common, input, previous_response_id: id });
  const end = await until(next, (await readResponse(going)).id, "completed", "failed");
  expect(end.output).toMatchObject([{ type: "mcp_call", output: "tea large" }, { type: "message" }]);
  expect(shop.runs).toEqual(["asked", "ordered large"]);
});
