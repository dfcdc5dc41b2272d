import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, streamText, type ToolSet, tool } from "ai";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer } from "../kit/test-server.ts";
import { startModern } from "../tools/mcp/mcp-servers.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { installedVersion } from "./installed-version.ts";
import { PIXEL, startToolServers, toolScenarios } from "./tool-servers.ts";

const others = await startToolServers();
const server = await startTestServer({ env: others.env, scenario: toolScenarios(others) });
afterAll(() => server.close());
const provider = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });

/** What a model does with these tools in at most three steps. */
async function run(prompt: string, tools: ToolSet, streamed: boolean) {
  const request = { model: provider("gpt-5-mini"), prompt, tools, stopWhen: isStepCount(3), maxRetries: 0 };
  if (!streamed) {
    const { text, steps, sources } = await generateText(request);
    return { text, steps, sources };
  }
  const failures: unknown[] = [];
  const result = streamText({ ...request, onError: ({ error }) => void failures.push(error) });
  for await (const part of result.stream) void part;
  expect(failures).toEqual([]);
  return { text: await result.text, steps: await result.steps, sources: await result.sources };
}

describe(`ai ${installedVersion("ai")} with @ai-sdk/openai ${installedVersion("@ai-sdk/openai")}`, () => {
  describe.each([
    ["plain", false],
    ["streamed", true],
  ])("%s", (_, streamed) => {
    test("webSearch searches, opens a page and cites", async () => {
      const tools = { web_search: provider.tools.webSearch({ searchContextSize: "low" }) };
      const { text, steps, sources } = await run("herons in depth", tools, streamed);
      expect(text).toContain("They wait.");
      expect(sources).toEqual([expect.objectContaining({ url: others.page })]);
      const results = steps.flatMap(({ content }) => content.filter(({ type }) => type === "tool-result"));
      expect(results).toMatchObject([
        { output: { action: { type: "search", query: "herons water" }, sources: [{ type: "url", url: others.page }] } },
        { output: { action: { type: "openPage", url: others.page } } },
      ]);
    });

    test("webSearchPreview searches and cites", async () => {
      const tools = { web_search_preview: provider.tools.webSearchPreview({}) };
      const { text, sources } = await run("herons", tools, streamed);
      expect(text).toContain("They wait.");
      expect(sources).toEqual([expect.objectContaining({ url: others.page })]);
    });

    test("fileSearch searches the files of a store and cites them", async () => {
      const fileId = await upload(server, "owls.txt", "Owls fly at night.");
      const storeId = await createStore(server, [fileId]);
      await takenIn(server, storeId);
      const tools = { file_search: provider.tools.fileSearch({ vectorStoreIds: [storeId], maxNumResults: 3 }) };
      const { text, steps, sources } = await run("owls", tools, streamed);
      expect(text).toBe("At night. Yes.");
      expect(sources).toEqual([expect.objectContaining({ sourceType: "document", filename: "owls.txt" })]);
      const results = steps.flatMap(({ content }) => content.filter(({ type }) => type === "tool-result"));
      expect(results).toMatchObject([{ output: { queries: ["owl night"] } }]);
    });

    test("imageGeneration draws", async () => {
      const { text, steps } = await run("a boat", { image_generation: provider.tools.imageGeneration() }, streamed);
      expect(text).toBe("Here it is.");
      expect(steps[0]?.toolResults.at(-1)).toMatchObject({ output: { result: PIXEL } });
    });

    test("mcp calls a tool without approval", async () => {
      const shop = await startModern({ legacy: true });
      const tools = {
        shop: provider.tools.mcp({ serverLabel: "shop", serverUrl: shop.url, requireApproval: "never" }),
      };
      const { text, steps } = await run("pay", tools, streamed);
      expect(text).toBe("I asked the shop.");
      expect(steps[0]?.toolResults).toMatchObject([{ output: { type: "call", name: "pay", output: "paid 3" } }]);
      expect(shop.ran).toEqual(["pay 3"]);
    });

    test.each([true, false])("mcp waits for its approval: %s", async (approved) => {
      const shop = await startModern({ legacy: true });
      const tools = {
        shop: provider.tools.mcp({ serverLabel: "shop", serverUrl: shop.url, requireApproval: "always" }),
      };
      const { steps } = await run("pay", tools, streamed);
      const request = steps[0]?.content.find(({ type }) => type === "tool-approval-request");
      if (request?.type !== "tool-approval-request") throw new Error("it did not ask");
      expect(shop.ran).toEqual([]);
      const { text } = await generateText({
        model: provider("gpt-5-mini"),
        tools,
        messages: [
          { role: "user", content: "pay" },
          ...steps.flatMap(({ response }) => response.messages),
          {
            role: "tool",
            content: [
              { type: "tool-approval-response", approvalId: request.approvalId, approved, providerExecuted: true },
            ],
          },
        ],
      });
      expect(text).toBe("I asked the shop.");
      expect(shop.ran).toEqual(approved ? ["pay 3"] : []);
    });

    test("shell, localShell and applyPatch are run by the client", async () => {
      const ran: unknown[] = [];
      const shell = provider.tools.shell({
        execute: async ({ action }) => {
          ran.push(action.commands);
          return { output: [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exitCode: 0 } }] };
        },
      });
      const localShell = provider.tools.localShell({
        execute: async ({ action }) => {
          ran.push(action.command);
          return { output: "a.txt" };
        },
      });
      const applyPatch = provider.tools.applyPatch({
        execute: async ({ operation }) => {
          ran.push(operation);
          return { status: "completed", output: "created" };
        },
      });
      expect((await run("list files", { shell }, streamed)).text).toBe("Done on your side.");
      const local = await run("list files locally", { local_shell: localShell }, streamed);
      expect(local.text).toBe("Done on your side.");
      expect((await run("patch", { apply_patch: applyPatch }, streamed)).text).toBe("Done on your side.");
      expect(ran).toEqual([["ls"], ["ls", "-a"], { type: "create_file", path: "a.txt", diff: "+hello" }]);
    });

    test("computer is run by the client, who answers with a picture", async () => {
      const pressed: unknown[] = [];
      const computer = provider.tools.computer({
        execute: async ({ actions }) => {
          pressed.push(...actions);
          return { output: { type: "computer_screenshot", imageUrl: `data:image/png;base64,${PIXEL}` } };
        },
      });
      expect((await run("press the button", { computer }, streamed)).text).toBe("Done on your side.");
      expect(pressed).toEqual([expect.objectContaining({ type: "click", x: 3, y: 4 })]);
    });

    test("toolSearch finds a deferred function, which is run", async () => {
      const written: unknown[] = [];
      const tools = {
        tool_search: provider.tools.toolSearch(),
        create_invoice: tool({
          description: "Writes an invoice.",
          inputSchema: z.object({}),
          providerOptions: { openai: { deferLoading: true } },
          execute: async (input) => {
            written.push(input);
            return "written";
          },
        }),
      };
      expect((await run("invoice", tools, streamed)).text).toBe("Done on your side.");
      expect(written).toEqual([{}]);
    });
  });
});
