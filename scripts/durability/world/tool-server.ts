import { setTimeout as sleep } from "node:timers/promises";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answerByFetch, sendJson } from "../../../tests/kit/http-answers.ts";
import { listen } from "./listen.ts";
import { SERVER_LABEL, TOOL, type ToolCall } from "./script.ts";

/**
 * An MCP server whose tool has an effect at a random moment of each call, and that notes each call. A caller that is
 * killed meanwhile does not change that, as with real tools.
 */
type Noted = { -readonly [Member in keyof ToolCall]: ToolCall[Member] };

/** Before and after the effect. */
const WORK_MS_MAX = 150;

const calls: Noted[] = [];
const handler = createMcpHandler(tools);

listen((request, response) => {
  if (request.url === "/calls") sendJson(response, calls);
  else void answerByFetch(handler.fetch, request, response).catch(() => response.destroy()); // The caller is gone.
});

function tools(): McpServer {
  const server = new McpServer({ name: SERVER_LABEL, version: "1.0.0" });
  const inputSchema = z.object({ run: z.string(), step: z.number() });
  server.registerTool(TOOL, { description: "Takes a step of a run.", inputSchema }, async ({ run, step }) => {
    const call: Noted = { run, step, calledAt: Date.now(), actedAt: null };
    calls.push(call);
    await sleep(Math.random() * WORK_MS_MAX);
    call.actedAt = Date.now();
    await sleep(Math.random() * WORK_MS_MAX);
    return { content: [{ type: "text", text: `step ${step} of ${run}: done` }] };
  });
  return server;
}
