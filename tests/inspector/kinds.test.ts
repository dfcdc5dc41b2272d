import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Antiphon, type CreateResponseRequest, type Response } from "../../packages/client/src/index.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { startToolServers, toolScenarios } from "../clients/tool-servers.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { accessibilityFaults } from "../local-stt/chat-lab-page.ts";
import { PIXEL, WAV } from "../responses/media-samples.ts";
import { CODE_ENGINE, HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { someCases } from "../trials.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

const MORE_SCENARIOS = `
  - when: { input_contains: run some code, has_tool_output: false }
    events: [{ call: { name: code_interpreter, arguments: { code: "6 * 7" } } }]
  - when: { input_contains: query it, has_tool_output: false }
    events: [{ custom_call: { name: run_query, input: "select 1" } }]
  - when: { input_contains: weather, has_tool_output: false }
    events: [{ call: { name: get_weather, arguments: { city: Oslo } } }]
  - when: { input_contains: refuse me }
    events: [{ refusal: I cannot help with that. }]
  - when: { input_contains: think aloud }
    events: [{ reasoning: First I count. }, { text: Four. }]
  - when: { input_contains: filtered }
    events: [{ text: So far }, { finish: content_filter }]
  - when: { input_contains: go on for ever }
    events: [{ text: One }, { delay_ms: 60000 }, { text: two }]
`;
const model = "gpt-5-mini";

const others = await startToolServers();

/** A run of a kind: the request, the names of its items, and words that the page shows. */
interface Kind {
  readonly request: Omit<CreateResponseRequest, "model" | "stream">;
  readonly items: readonly string[];
  readonly words: string;
}

/** The file search names a store, which is made before. */
function kinds(storeId: string): Readonly<Record<string, Kind>> {
  return {
    "a search that opens a page": {
      request: { input: "herons in depth", tools: [{ type: "web_search" }] },
      items: ["Web search", "Web search", "Assistant"],
      words: "herons water",
    },
    "a picture that was drawn": {
      request: { input: "a boat", tools: [{ type: "image_generation" }] },
      items: ["Image generation", "Assistant"],
      words: "Here it is.",
    },
    "a search in files": {
      request: { input: "owls", tools: [{ type: "file_search", vector_store_ids: [storeId] }] },
      items: ["File search", "Assistant"],
      words: "owl night",
    },
    "a shell of the client": {
      request: { input: "list files", tools: [{ type: "shell", environment: { type: "local" } }] },
      items: ["Shell"],
      words: "ls",
    },
    "a local shell": {
      request: { input: "list files locally", tools: [{ type: "local_shell" }] },
      items: ["Local shell"],
      words: "ls -a",
    },
    "a patch": {
      request: { input: "patch", tools: [{ type: "apply_patch" }] },
      items: ["Patch"],
      words: "create file a.txt",
    },
    "a computer": {
      request: { input: "press the button", tools: [{ type: "computer" }] },
      items: ["Computer"],
      words: "click",
    },
    "a function that was found": {
      request: {
        input: "invoice",
        tools: [{ type: "tool_search" }, { type: "function", name: "create_invoice", defer_loading: true }],
      },
      items: ["Tool search", "Tools found", "Function create_invoice"],
      words: "create_invoice",
    },
    "a function of the client": {
      request: { input: "weather", tools: [{ type: "function", name: "get_weather" }] },
      items: ["Function get_weather"],
      words: '"Oslo"',
    },
    "a custom tool": {
      request: { input: "query it", tools: [{ type: "custom", name: "run_query" }] },
      items: ["Tool run_query"],
      words: "select 1",
    },
    "a refusal": { request: { input: "refuse me" }, items: ["Assistant"], words: "I cannot help with that." },
    reasoning: { request: { input: "think aloud" }, items: ["Reasoning", "Assistant"], words: "First I count." },
    "an answer that was filtered": { request: { input: "filtered" }, items: ["Assistant"], words: "content filter" },
  };
}

type Content = Extract<
  Exclude<NonNullable<CreateResponseRequest["input"]>, string>[number],
  { type?: "message" }
>["content"];

let browser: Browser;
let server: TestServer;
let client: Antiphon;
let storeId: string;

describe.skipIf(CHROMIUM === null)("a run of any kind", () => {
  beforeAll(async () => {
    buildPages();
    const scenario = toolScenarios(others) + MORE_SCENARIOS;
    [browser, server] = await Promise.all([
      startChromium(),
      startTestServer({ env: { ...others.env, ...CODE_ENGINE }, scenario }),
    ]);
    client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
    storeId = await createStore(server, [await upload(server, "owls.txt", "Owls hunt at night.")]);
    await takenIn(server, storeId);
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close()]);
  });

  const open = (id: string, tab = ""): Promise<Page> =>
    openInspector(browser, { server, query: `?run=${id}${tab === "" ? "" : `&tab=${tab}`}` });

  const items = (page: Page): Promise<readonly (string | null)[]> =>
    page
      .getByRole("region", { name: "Items" })
      .getByRole("article")
      .evaluateAll((articles) => articles.map((article) => article.getAttribute("aria-label")));

  test.each(someCases(Object.keys(kinds("")), 2))(
    "is shown, and exported as a scenario that plays it again: %s",
    async (name) => {
      const kind = kinds(storeId)[name];
      if (kind === undefined) throw new Error("There is no such kind.");
      const made = await client.createResponse({ model, ...kind.request });
      const page = await open(made.id);
      await page.getByText("No rule broken").waitFor();
      expect(await items(page)).toEqual(["User", ...kind.items]);
      expect(await page.locator("#main").innerText()).toContain(kind.words);
      expect(await accessibilityFaults(page)).toEqual([]);
      const scenario = await exported(page, "Scenario");
      expect(await playedAgain(scenario, kind.request)).toEqual(whatWasSaid(made));
    },
  );

  test.skipIf(!HAS_BUBBLEWRAP)("shows code with what it printed", async () => {
    const made = await client.createResponse({
      model,
      input: "run some code",
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      include: ["code_interpreter_call.outputs"],
    });
    const page = await open(made.id, "tools");
    const call = page.getByRole("article", { name: "Code interpreter" });
    await expect.poll(() => call.getByRole("group", { name: "Code" }).textContent()).toBe("6 * 7");
    await expect.poll(() => call.getByRole("group", { name: "Printed" }).textContent()).toContain("42");
  });

  test.skipIf(!HAS_BUBBLEWRAP)("shows what code and a file search gave, though nobody asked for it", async () => {
    verifies("inspection.exchanges.tool-results");
    const searched = await client.createResponse({
      model,
      input: "owls",
      tools: [{ type: "file_search", vector_store_ids: [storeId] }],
    });
    const page = await open(searched.id);
    const search = page.getByRole("article", { name: "File search" });
    await search.getByRole("group", { name: "Shown to the model" }).getByText("Owls hunt at night.").waitFor();
    const computed = await client.createResponse({
      model,
      input: "run some code",
      tools: [{ type: "code_interpreter", container: { type: "auto" } }],
    });
    const tools = await open(computed.id, "tools");
    const code = tools.getByRole("article", { name: "Code interpreter" });
    await code.getByRole("group", { name: "Shown to the model" }).getByText("42").waitFor();
  });

  test("shows pictures, files and recordings that were sent", async () => {
    const heard = await startTestServer({ speech: { warning: () => null, transcribeFile: async () => "Hi" } });
    try {
      const content: Content = [
        { type: "input_text", text: "Say hi" },
        { type: "input_image", image_url: PIXEL },
        { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,SGk=" },
        { type: "input_audio", input_audio: { data: WAV, format: "wav" } },
      ];
      const { id } = await new Antiphon({ baseUrl: heard.url, apiKey: heard.apiKey }).createResponse({
        model: "antiphon-built-in",
        input: [{ type: "message", role: "user", content }],
      });
      const page = await openInspector(browser, { server: heard, query: `?run=${id}` });
      const message = page.getByRole("article", { name: "User" });
      await message.getByRole("img", { name: "Attached" }).waitFor();
      await message.getByText("a.txt").waitFor();
      await message.getByLabel("Recording").waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
    } finally {
      await heard.close();
    }
  });

  test("shows a run of a WebSocket, and one in the background that was cancelled", async () => {
    const socket = await openSocket(server);
    const { response } = await socket.create({ input: "Say hello" });
    const page = await open(response.id);
    await page.getByText("websocket", { exact: true }).waitFor();
    const { id } = await client.createResponse({ model, input: "go on for ever", background: true });
    await client.cancelResponse(id);
    const cancelled = await open(id);
    await cancelled.locator('[data-status="cancelled"]').first().waitFor(); // The list of events may say it, too.
    await cancelled.getByText("background", { exact: true }).waitFor();
  });

  test("forks a run of a conversation with all that it saw, and not with what came later", async () => {
    const conversation = (await client.createConversation({})).id;
    const ask = (input: string): Promise<Response> =>
      client.createResponse({ model: "antiphon-built-in", input, conversation });
    await ask("My bird is a heron.");
    const second = await ask("Say good morning.");
    await ask("Say good night.");
    const page = await openInspector(browser, { server, query: `?page=playground&from=${second.id}` });
    const seed = page.getByRole("region", { name: "Items to begin with" });
    await expect.poll(() => seed.innerText()).toContain("My bird is a heron.");
    expect(await page.getByLabel("Message").inputValue()).toBe("Say good morning.");
    await page.getByLabel("Message").fill("What did I say?");
    await page.getByRole("button", { name: "Send" }).click();
    await expect
      .poll(() => page.getByRole("list", { name: "Conversation" }).innerText())
      .toContain('You said: "My bird is a heron."');
    const listed = await open(second.id, "context");
    await expect.poll(() => listed.locator(".chain > li").count()).toBe(3);
  });
});

async function exported(page: Page, form: string): Promise<string> {
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("tab", { name: form }).click();
  return (await page.getByRole("region", { name: form }).textContent()) ?? "";
}

/** Sends the request to a server that plays the scenario. */
async function playedAgain(scenario: string, request: Kind["request"]): Promise<readonly string[]> {
  const other = await startTestServer({ env: others.env, scenario });
  try {
    const again = new Antiphon({ baseUrl: other.url, apiKey: other.apiKey });
    const made = await again.createResponse({ model, ...(await withOwnStore(request, other)) });
    return whatWasSaid(made);
  } finally {
    await other.close();
  }
}

async function withOwnStore(request: Kind["request"], other: TestServer): Promise<Kind["request"]> {
  if (request.tools?.[0]?.type !== "file_search") return request;
  const own = await createStore(other, [await upload(other, "owls.txt", "Owls hunt at night.")]);
  await takenIn(other, own);
  return { ...request, tools: [{ type: "file_search", vector_store_ids: [own] }] };
}

/** Each item of the output, without ids, which each server makes anew, and without the places of citations. */
function whatWasSaid({ output }: Response): readonly string[] {
  return output.map((item) => {
    const content = "content" in item ? item.content?.map((part) => ({ ...part, annotations: undefined })) : undefined;
    return JSON.stringify({ ...item, content, id: undefined, encrypted_content: undefined });
  });
}
