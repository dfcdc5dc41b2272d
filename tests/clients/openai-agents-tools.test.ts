import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { acceptedContent, inputRequired, McpServer } from "@modelcontextprotocol/server";
import {
  Agent,
  tool as agentTool,
  fileSearchTool,
  hostedMcpTool,
  imageGenerationTool,
  OpenAIProvider,
  programmaticToolCallingTool,
  Runner,
  webSearchTool,
} from "@openai/agents";
import OpenAI from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { startModern, startOfficial } from "../tools/mcp/mcp-servers.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { startToolServers, toolScenarios } from "./tool-servers.ts";

const others = await startToolServers();
const server = await startTestServer({ env: others.env, scenario: toolScenarios(others) });
afterAll(() => server.close());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client }), tracingDisabled: true });

type Tools = NonNullable<ConstructorParameters<typeof Agent>[0]["tools"]>;

function agentWith(tools: Tools): Agent {
  return new Agent({ name: "Helper", model: "gpt-5-mini", instructions: "Be brief.", tools });
}

const both = [false, true] as const;
const ACCOUNT = z.object({ account: z.string() });

async function run(agent: Agent, input: string, streamed: boolean) {
  if (!streamed) return await runner.run(agent, input);
  const result = await runner.run(agent, input, { stream: true });
  for await (const event of result) void event;
  await result.completed;
  return result;
}

describe(`@openai/agents ${installedVersion("@openai/agents")}`, () => {
  test.each(both)("webSearchTool searches, opens a page and answers (streamed: %s)", async (streamed) => {
    const result = await run(
      agentWith([webSearchTool({ searchContextSize: "low" })]),
      "How do herons hunt? Find herons in depth.",
      streamed,
    );
    expect(result.finalOutput).toContain("They wait.");
    expect(JSON.stringify(result.output)).toContain("url_citation");
    expect(result.newItems.map(({ type }) => type)).toEqual([
      "tool_call_item",
      "tool_call_item",
      "message_output_item",
    ]);
    const next = await runner.run(agentWith([webSearchTool()]), [
      ...result.history,
      { role: "user", content: "What did I say?" },
    ]);
    expect(next.finalOutput).toContain("How do herons hunt? Find herons in depth.");
  });

  test.each(both)("fileSearchTool searches, cites and goes on from its history (streamed: %s)", async (streamed) => {
    const fileId = await upload(server, "owls.txt", "Owls fly at night.");
    const storeId = await createStore(server, [fileId]);
    await takenIn(server, storeId);
    const tool = fileSearchTool([storeId], { maxNumResults: 3, includeSearchResults: true });
    const result = await run(agentWith([tool]), "When do owls fly?", streamed);
    expect(result.finalOutput).toBe("At night. Yes.");
    expect(JSON.stringify(result.output)).toContain("file_citation");
    expect(JSON.stringify(result.output)).toContain("Owls fly at night.");
    expect(result.newItems.map(({ type }) => type)).toEqual(["tool_call_item", "message_output_item"]);
    const next = await runner.run(agentWith([tool]), [...result.history, { role: "user", content: "What did I say?" }]);
    expect(next.finalOutput).toContain("When do owls fly?");
  });

  test.each(both)(
    "programmaticToolCallingTool runs a program over the agent's functions (streamed: %s)",
    async (streamed) => {
      const counted: string[] = [];
      const count = agentTool({
        name: "count_stock",
        description: "Counts.",
        parameters: z.object({ sku: z.string() }),
        allowedCallers: ["programmatic"],
        execute: async ({ sku }) => {
          counted.push(sku);
          return JSON.stringify({ units: counted.length });
        },
      });
      const agent = agentWith([count, programmaticToolCallingTool()]);
      const result = await run(agent, "How much stock is there?", streamed);
      expect(result.finalOutput).toBe("I counted.");
      expect(counted).toEqual(["a", "b"]);
      expect(JSON.stringify(result.newItems.map(({ rawItem }) => rawItem))).toContain(String.raw`"{\"total\":3}"`);
      const next = await runner.run(agent, [...result.history, { role: "user", content: "What did I say?" }]);
      expect(next.finalOutput).toContain("How much stock is there?");
    },
  );

  test.each(both)("imageGenerationTool draws (streamed: %s)", async (streamed) => {
    const result = await run(agentWith([imageGenerationTool()]), "Draw a boat", streamed);
    expect(result.finalOutput).toBe("Here it is.");
  });

  test.each(both)("hostedMcpTool calls a tool without approval (streamed: %s)", async (streamed) => {
    const shop = await startModern({ legacy: true });
    const mcp = hostedMcpTool({ serverLabel: "shop", serverUrl: shop.url, requireApproval: "never" });
    const result = await run(agentWith([mcp]), "Please pay", streamed);
    expect(result.finalOutput).toBe("I asked the shop.");
    expect(shop.ran).toEqual(["pay 3"]);
  });

  test.each([true, false])("hostedMcpTool asks its callback (approves: %s)", async (approve) => {
    const shop = await startModern({ legacy: true });
    const asked: string[] = [];
    const mcp = hostedMcpTool({
      serverLabel: "shop",
      serverUrl: shop.url,
      requireApproval: "always",
      onApproval: async (_context, item) => {
        asked.push("name" in item.rawItem ? item.rawItem.name : "");
        return { approve };
      },
    });
    const result = await runner.run(agentWith([mcp]), "Please pay");
    expect(asked).toEqual(["pay"]);
    expect(result.finalOutput).toBe("I asked the shop.");
    expect(shop.ran).toEqual(approve ? ["pay 3"] : []);
  });

  test("hostedMcpTool passes questions of its server to its callback", async () => {
    verifies("tools.mcp.questions-pause-a-call");
    const { url } = await startOfficial(() => {
      const shop = new McpServer({ name: "shop", version: "1.0.0" });
      shop.registerTool("pay", { inputSchema: z.object({ amount: z.number() }) }, ({ amount }, { mcpReq }) => {
        const content = acceptedContent(mcpReq.inputResponses, "account", ACCOUNT);
        if (content !== undefined) return { content: [{ type: "text", text: `${amount} from ${content.account}` }] };
        const account = inputRequired.elicit({ message: "Which account?", requestedSchema: ACCOUNT });
        return inputRequired({ inputRequests: { account } });
      });
      return shop;
    });
    const file = join(temporaryFolder(), "servers.yaml");
    writeFileSync(
      file,
      `servers: { shop: { url: "${url}", elicitation: ask, require_approval: never, connector_ids: [connector_gmail] } }`,
    );
    const env = { ...others.env, MCP_SERVERS_FILE: file };
    const { url: baseURL, apiKey } = await startTestServer({ env, scenario: toolScenarios(others) });
    const openAIClient = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, maxRetries: 0 });
    const shopRunner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient }), tracingDisabled: true });
    const asked: unknown[] = [];
    const mcp = hostedMcpTool({
      serverLabel: "shop",
      connectorId: "connector_gmail",
      requireApproval: { never: { toolNames: ["pay"] } },
      onApproval: async (_context, { rawItem }) => {
        const { arguments: text = "{}" } = { ...rawItem.providerData };
        const question: { message: string } = JSON.parse(String(text));
        asked.push(["name" in rawItem ? rawItem.name : "", question.message]);
        return { approve: true, reason: '{"account":"savings"}' };
      },
    });
    const result = await shopRunner.run(agentWith([mcp]), "Please pay");
    expect(asked).toEqual([["elicitation/create", "Which account?"]]);
    expect(JSON.stringify(result.newItems.map(({ rawItem }) => rawItem))).toContain("3 from savings");
    expect(result.finalOutput).toBe("I asked the shop.");
  });

  test.each([
    [true, false],
    [true, true],
    [false, false],
    [false, true],
  ])("a run that waits for a person continues (approved: %s, streamed: %s)", async (approve, streamed) => {
    const shop = await startModern({ legacy: true });
    const mcp = hostedMcpTool({ serverLabel: "shop", serverUrl: shop.url, requireApproval: "always" });
    const agent = agentWith([mcp]);
    const asked = await run(agent, "Please pay", streamed);
    expect(asked.interruptions).toHaveLength(1);
    expect(shop.ran).toEqual([]);
    for (const interruption of asked.interruptions) {
      if (approve) asked.state.approve(interruption);
      else asked.state.reject(interruption);
    }
    const done = await runner.run(agent, asked.state);
    expect(done.finalOutput).toBe("I asked the shop.");
    expect(shop.ran).toEqual(approve ? ["pay 3"] : []);
  });
});
