import { createServer } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answerByFetch } from "../../tests/kit/http-answers.ts";

const FORECAST_MS = 380;

/** An MCP server with a tool that reads and one that acts. Resolves to its URL and a function that stops it. */
export async function serveDemoMcp(): Promise<{ readonly url: string; readonly close: () => void }> {
  const handler = createMcpHandler(demoTools);
  const server = createServer((request, response) => void answerByFetch(handler.fetch, request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The MCP server has no port.");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${address.port}/mcp`, close };
}

function demoTools(): McpServer {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  const place = z.object({ city: z.string(), days: z.number() });
  server.registerTool(
    "get_forecast",
    { description: "The weather of the next days.", inputSchema: place, annotations: { readOnlyHint: true } },
    async ({ city }) => {
      await new Promise((resolve) => setTimeout(resolve, FORECAST_MS));
      const forecast = { city, saturday: { sky: "clear", high: 22 }, sunday: { sky: "rain until noon", high: 19 } };
      return { content: [{ type: "text", text: JSON.stringify(forecast) }] };
    },
  );
  server.registerTool(
    "refund_order",
    { description: "Refund an order.", inputSchema: z.object({ order: z.string() }) },
    ({ order }) => ({ content: [{ type: "text", text: `refunded ${order}` }] }),
  );
  return server;
}
