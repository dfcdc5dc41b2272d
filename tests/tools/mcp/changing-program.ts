import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/**
 * An MCP program on stdio whose list changes: `unlock` adds `open` and removes itself, `later` adds `late` after its
 * answer. With OLDER it speaks the older protocols only.
 */
function changing(): McpServer {
  const server = new McpServer({ name: "changing", version: "1.0.0" });
  const inputSchema = z.object({});
  const says = (text: string) => ({ content: [{ type: "text" as const, text }] });
  const unlock = server.registerTool("unlock", { inputSchema }, () => {
    server.registerTool("open", { inputSchema }, () => says("opened"));
    unlock.remove();
    return says("unlocked");
  });
  server.registerTool("later", { inputSchema }, () => {
    setTimeout(() => server.registerTool("late", { inputSchema }, () => says("at last")), 50);
    return says("soon");
  });
  return server;
}

if (process.env["OLDER"] === undefined) serveStdio(changing);
else await changing().connect(new StdioServerTransport());
