import type { ServerResponse } from "node:http";
import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { verifies } from "../../verifies.ts";
import { type JsonRpc, plainTool, startEverything, startOfficial, startScripted, toolList } from "./mcp-servers.ts";
import { called, mcpInput, opened, ranCall } from "./opened-tool.ts";

const FORM = { type: "object", properties: { size: { type: "string" } } } as const;

test.each(["elicitation/create", "sampling/createMessage", "roots/list"])(
  "a server of an older protocol that asks by %s in a call is answered, and the model learns why",
  async (method) => {
    verifies("tools.mcp.questions-are-refused");
    const open: { reply: ServerResponse; id: JsonRpc["id"] }[] = [];
    const capabilities: unknown[] = [];
    const send = (reply: ServerResponse, message: object): unknown =>
      reply.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
    const server = await startScripted({
      initialize: ({ params }) => {
        capabilities.push(params?.["capabilities"]);
        const begun = { protocolVersion: "2025-06-18", serverInfo: { name: "asking", version: "1" } };
        return { result: { ...begun, capabilities: { tools: {} } } };
      },
      "tools/list": () => toolList([plainTool("one", { annotations: { readOnlyHint: true } })]),
      "tools/call": ({ id }, reply) => {
        reply.writeHead(200, { "content-type": "text/event-stream" });
        send(reply, { id: 77, method, params: { message: "Which size?", requestedSchema: FORM } });
        open.push({ reply, id });
      },
      answer: ({ error }) => {
        const [{ reply, id } = { reply: null, id: 0 }] = open;
        if (reply === null) throw new Error("nothing was called");
        const content = [{ type: "text", text: `asking failed: ${error?.message}` }];
        send(reply, { id, result: { content, isError: true } });
        reply.end();
        return null;
      },
    });
    const call = ranCall(await called(await opened(mcpInput({ server_url: server.url })), "one"));
    expect(call.item).toMatchObject({ status: "failed", error: { type: "mcp_tool_execution_error" } });
    expect(call.output).toContain(`does not answer ${method}: nobody and no model can be asked during a call`);
    expect(capabilities).toEqual([{}]);
  },
);

test("a server of protocol 2026-07-28 that needs input fails the call, and the model learns why", async () => {
  verifies("tools.mcp.questions-are-refused");
  const { url } = await startOfficial(() => {
    const server = new McpServer({ name: "asking", version: "1.0.0" });
    server.registerTool("size", { inputSchema: z.object({}) }, () =>
      inputRequired({
        inputRequests: { size: inputRequired.elicit({ message: "Which size?", requestedSchema: FORM }) },
      }),
    );
    return server;
  });
  const call = ranCall(await called(await opened(mcpInput({ server_url: url })), "size"));
  expect(call.item).toMatchObject({ status: "failed", error: { type: "mcp_protocol_error" } });
  expect(call.output).toMatch(/Cannot request input .size. \(elicitation\/create\): .* client capabilities/);
});

test("a tool of the official server that only runs as a task fails with what is wrong", async () => {
  const { url } = await startEverything("streamableHttp");
  const call = ranCall(
    await called(await opened(mcpInput({ server_url: url })), "simulate-research-query", { topic: "herons" }),
  );
  expect(call.item.status).toBe("failed");
  expect(call.output).toContain("requires task augmentation");
});
