import { type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { tools as builtIn, ChatOpenAI } from "@langchain/openai";
import { afterAll, describe, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { installedVersion } from "./installed-version.ts";
import { PIXEL, startToolServers, toolScenarios } from "./tool-servers.ts";

const others = await startToolServers();
const server = await startTestServer({ env: others.env, scenario: toolScenarios(others) });
afterAll(() => server.close());

type Tools = Parameters<ChatOpenAI["bindTools"]>[0];

function chatWith(tools: Tools) {
  const model = new ChatOpenAI({
    model: "gpt-5-mini",
    apiKey: server.apiKey,
    configuration: { baseURL: `${server.url}/v1` },
    useResponsesApi: true,
    maxRetries: 0,
  });
  return model.bindTools(tools);
}

async function ask(tools: Tools, input: string, streamed: boolean) {
  const model = chatWith(tools);
  if (!streamed) return await model.invoke(input);
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await model.stream(input)) whole = whole === undefined ? chunk : whole.concat(chunk);
  if (whole === undefined) throw new Error("the stream had no chunk");
  return whole;
}

describe(`@langchain/openai ${installedVersion("@langchain/openai")}`, () => {
  describe.each([
    ["invoked", false],
    ["streamed", true],
  ])("%s", (_, streamed) => {
    test.each([
      ["herons in depth", { type: "web_search" }, 2],
      ["herons in depth", builtIn.webSearch({ search_context_size: "low" }), 2],
      ["herons", { type: "web_search_preview" }, 1],
    ] as const)("%s is searched with %j, and cited", async (input, tool, searches) => {
      const message = await ask([tool], input, streamed);
      expect(message.text).toContain("They wait.");
      expect(JSON.stringify(message.content)).toContain(others.page);
      expect(outputsOf(message)).toHaveLength(searches);
      const next = await chatWith([tool]).invoke([
        new HumanMessage(input),
        message,
        new HumanMessage("What did I say?"),
      ]);
      expect(next.text).toContain(input);
    });

    test("image_generation draws", async () => {
      const message = await ask([{ type: "image_generation" }], "a boat", streamed);
      expect(message.text).toBe("Here it is.");
      expect(JSON.stringify(outputsOf(message))).toContain(PIXEL);
    });

    test("mcp calls a tool without approval", async () => {
      const shop = await startModern({ legacy: true });
      const tool = { type: "mcp", server_label: "shop", server_url: shop.url, require_approval: "never" } as const;
      const message = await ask([tool], "pay", streamed);
      expect(message.text).toBe("I asked the shop.");
      expect(outputsOf(message)).toContainEqual(expect.objectContaining({ type: "mcp_call", output: "paid 3" }));
      expect(shop.ran).toEqual(["pay 3"]);
    });

    test.each([true, false])("mcp waits for its approval: %s", async (approve) => {
      const shop = await startModern({ legacy: true });
      const tool = { type: "mcp", server_label: "shop", server_url: shop.url, require_approval: "always" } as const;
      const asked = await ask([tool], "pay", streamed);
      const request = outputsOf(asked).find(({ type }) => type === "mcp_approval_request");
      expect(shop.ran).toEqual([]);
      const answer = new HumanMessage({
        content: [{ type: "mcp_approval_response", approval_request_id: String(request?.["id"]), approve }],
      });
      const done = await chatWith([tool]).invoke([answer], {
        previous_response_id: String(asked.response_metadata["id"]),
      });
      expect(done.text).toBe("I asked the shop.");
      expect(shop.ran).toEqual(approve ? ["pay 3"] : []);
    });
  });
});

/** The items of hosted tools, as the client keeps them beside the text. */
function outputsOf({ additional_kwargs }: { additional_kwargs: Record<string, unknown> }) {
  const outputs: unknown = additional_kwargs["tool_outputs"];
  if (!Array.isArray(outputs)) throw new Error("the message has no outputs of tools");
  return outputs.map((output): Readonly<Record<string, unknown>> => ({ ...Object(output) }));
}
