import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answerByFetch, sendJson } from "../../tests/kit/http-answers.ts";

/** Servers that our tools ask: for hits, for tools of MCP, for pictures. */
export interface ToolServers {
  /** The settings with which our server finds them. */
  readonly env: Readonly<Record<string, string>>;
  /** Has no trailing slash. The MCP servers are at `/mcp` and, listing nothing, at `/no-mcp`. */
  readonly url: string;
  close(): void;
}

/** Stands in requests for the address of the tool servers. */
export const TOOL_SERVERS = "http://tool-servers";

/** Stands in requests for the id of a vector store that holds a file. */
export const TIDE_STORE = "vs_of_the_tide";

/** A PNG of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const HIT = { url: "https://example.com/rome", title: "Rome", content: "It is sunny in Rome." };

export async function startToolServers(): Promise<ToolServers> {
  const mcp = createMcpHandler(weatherServer);
  const answers: Readonly<Record<string, RequestListener>> = {
    "/search": (_request, response) => sendJson(response, { results: [HIT] }),
    "/mcp": (request, response) => void answerByFetch(mcp.fetch, request, response),
    "/no-mcp": (_request, response) => void response.writeHead(401).end(),
    "/v1/images/generations": (_request, response) => draw(response),
  };
  const server = createServer((request, response) => {
    const listener = answers[(request.url ?? "").split("?")[0] ?? ""];
    if (listener === undefined) response.writeHead(404).end();
    else listener(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the tool servers have no port");
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    env: {
      EGRESS_ALLOW: "127.0.0.1",
      IMAGE_BASE_URL: `${url}/v1`,
      WEB_SEARCH_PROVIDER: "searxng",
      WEB_SEARCH_BASE_URL: url,
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function weatherServer(): McpServer {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  const city = { inputSchema: z.object({ city: z.string() }) };
  server.registerTool("get_weather", { description: "Tells the weather of a city.", ...city }, () => ({
    content: [{ type: "text", text: "Sunny" }],
  }));
  server.registerTool("get_storms", { description: "Tells the storms of a city.", ...city }, () => ({
    content: [{ type: "text", text: "The station does not answer." }],
    isError: true,
  }));
  return server;
}

/** One unfinished picture, and the whole one. */
function draw(response: ServerResponse): void {
  const picture = { b64_json: PIXEL, background: "opaque", output_format: "png", quality: "medium", size: "1024x1024" };
  const events = [
    { type: "image_generation.partial_image", partial_image_index: 0, ...picture },
    { type: "image_generation.completed", revised_prompt: "A lighthouse.", ...picture },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}
