import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { verifies } from "../../verifies.ts";
import { startEverything, startOfficial } from "./mcp-servers.ts";
import { called, finished, mcpInput, opened, ranCall } from "./opened-tool.ts";

const ASKING = "trigger-elicitation-request";
const FORM = { type: "object", properties: { size: { type: "string" } } } as const;

/** A server of the newer protocol that asks with this message, and says what it is answered. */
async function startAsking(message: string): Promise<string> {
  const { url } = await startOfficial(() => {
    const server = new McpServer({ name: "asking", version: "1.0.0" });
    server.registerTool("size", { inputSchema: z.object({}) }, (_args, { mcpReq: { inputResponses } }) =>
      inputResponses === undefined
        ? inputRequired({ inputRequests: { size: inputRequired.elicit({ message, requestedSchema: FORM }) } })
        : { content: [{ type: "text", text: JSON.stringify(inputResponses["size"]) }] },
    );
    return server;
  });
  return url;
}

test("where the answer may reach another process, a server of an older protocol is declined", async () => {
  verifies("tools.mcp.questions-that-cannot-wait");
  const { url } = await startEverything("streamableHttp");
  const tool = await opened(mcpInput({ server_url: url, elicitation: "ask" }), { options: { isOnlyProcess: false } });
  const { item, output } = ranCall(await called(tool, ASKING));
  expect([item.status, output]).toEqual(["completed", expect.stringContaining("User declined")]);
  await tool.close();
});

test("where the answer may reach another process, a server of the newer protocol still asks", async () => {
  verifies("tools.mcp.questions-that-cannot-wait");
  const server_url = await startAsking("Which size?");
  const tool = await opened(mcpInput({ server_url, elicitation: "ask" }), { options: { isOnlyProcess: false } });
  expect(await called(tool, "size")).toMatchObject({ type: "ran", asks: true, item: { status: "incomplete" } });
  await tool.close();
});

test.each(["older", "newer"])("questions of the %s protocol in a call of a program are declined", async (protocol) => {
  verifies("tools.mcp.questions-that-cannot-wait");
  const isOlder = protocol === "older";
  const server_url = isOlder ? (await startEverything("streamableHttp")).url : await startAsking("Which size?");
  const tool = await opened(mcpInput({ server_url, elicitation: "ask" }));
  const origin = { callId: "call_1", newItemId: (prefix: string) => `${prefix}_9`, isByProgram: true };
  const call = tool.call(isOlder ? ASKING : "size", origin);
  const { item, output } = ranCall(await finished(call.run("{}", new AbortController().signal)));
  expect(item.status).toBe("completed");
  expect(output).toMatch(/declined?/);
  await tool.close();
});

test("a question that is too long to be shown is declined", async () => {
  verifies("tools.mcp.questions-that-cannot-wait");
  const tool = await opened(mcpInput({ server_url: await startAsking("x".repeat(300_000)), elicitation: "ask" }));
  expect(ranCall(await called(tool, "size")).output).toBe('{"action":"decline"}');
  await tool.close();
});

test("calls of one session that ask at the same time have a question each", async () => {
  verifies("tools.mcp.questions-pause-a-call");
  const { url } = await startEverything("streamableHttp");
  const tool = await opened(mcpInput({ server_url: url, elicitation: "ask" }));
  const outcomes = await Promise.all([1, 2, 3].map(() => called(tool, ASKING)));
  expect(outcomes.map((outcome) => outcome.type === "ran" && outcome.asks)).toEqual([true, true, true]);
  await tool.close();
});

test("a cancelled response ends a call before its server asks, and the session can be used again", async () => {
  const { url } = await startEverything("streamableHttp");
  const tool = await opened(mcpInput({ server_url: url, elicitation: "ask" }));
  const cancelled = new AbortController();
  const long = called(tool, "trigger-long-running-operation", { duration: 60, steps: 60 }, cancelled.signal);
  cancelled.abort();
  expect(await long).toMatchObject({ type: "ran", item: { status: "incomplete" } });
  expect(ranCall(await called(tool, "echo", { message: "hi" })).output).toContain("hi");
  await tool.close();
});
