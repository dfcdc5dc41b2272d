import { setTimeout as sleep } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

/** An MCP program on stdio that keeps a count: its state. Says on stderr when it starts. */
process.stderr.write(`counting with ${process.env["COUNTER_KEY"] ?? "no key"}\n`);
let count = 0;

serveStdio(() => {
  const server = new McpServer({ name: "counting", version: "1.0.0" });
  const says = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("count", { description: "Counts.", inputSchema: z.object({}) }, () =>
    says(`${++count} in ${process.pid}`),
  );
  server.registerTool("die", { description: "Ends the program.", inputSchema: z.object({}) }, () => process.exit(1));
  const annotations = { readOnlyHint: true };
  server.registerTool("hang", { description: "Answers no more.", inputSchema: z.object({}), annotations }, () => {
    process.stderr.write("waiting for the tape\n");
    for (;;); // Not even pings are answered.
  });
  server.registerTool("nap", { description: "Takes long.", inputSchema: z.object({}) }, async () => {
    process.stderr.write("asleep\n");
    await sleep(60_000, undefined, { ref: false });
    return says("awake");
  });
  return server;
});
