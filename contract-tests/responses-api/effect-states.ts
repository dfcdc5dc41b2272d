import { once } from "node:events";
import { createServer } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import OpenAI from "openai";
import { z } from "zod";
import { answerByFetch } from "../../tests/kit/http-answers.ts";
import type { Service } from "../providers.fixture.ts";
import { PAY } from "./http-server.fixture.ts";

/** The states of a server that may call this machine. */
export function stagedEffectStates({ url, apiKey, model }: Service) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey });
  const payUnknown = async () => {
    const bank = await startBank();
    try {
      const members = { server_label: "bank", server_url: bank.url, require_approval: "never" } as const;
      const tools = [{ type: "mcp" as const, ...members }];
      const { id, output } = await client.responses.create({ model, input: PAY, tools });
      return { response_id: id, effect_id: output.find(({ type }) => type === "mcp_call")?.id ?? "" };
    } finally {
      bank.close();
    }
  };
  return {
    "a response with a call whose outcome is unknown": payUnknown,
    "a response with a call that a person has settled": async () => {
      const ids = await payUnknown();
      await client.post(`/responses/${ids.response_id}/effects/${ids.effect_id}`, { body: { state: "done" } });
      return ids;
    },
  };
}

/** A bank whose connections break when it has paid. */
async function startBank() {
  const handler = createMcpHandler(() => {
    const bank = new McpServer({ name: "bank", version: "1.0.0" });
    bank.registerTool("pay", { description: "Pays.", inputSchema: z.object({}) }, () => {
      server.closeAllConnections();
      return { content: [] };
    });
    return bank;
  });
  const server = createServer((request, response) => {
    answerByFetch(handler.fetch, request, response).catch(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the bank has no port");
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${address.port}/mcp`, close };
}
