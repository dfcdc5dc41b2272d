import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** An MCP program of an older protocol that asks for a size before it orders, and counts its orders: its state. */
const server = new McpServer({ name: "asking", version: "1.0.0" });
let count = 0;
server.registerTool("order", { inputSchema: z.object({ sku: z.string() }) }, async ({ sku }) => {
  count += 1;
  const { action, content } = await server.server.elicitInput({
    message: "Which size?",
    requestedSchema: { type: "object", properties: { size: { type: "string" } }, required: ["size"] },
  });
  const ordered = action === "accept" ? `${sku} ${String(content?.["size"])}` : "nothing";
  return { content: [{ type: "text", text: `${ordered} after ${count} in ${process.pid}` }] };
});
await server.connect(new StdioServerTransport());
