import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { type DemoRuns, makeDemoRuns } from "../../scripts/demo/demo-runs.ts";
import { type DemoServer, startDemoServer } from "../../scripts/demo/demo-server.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { accessibilityFaults, keep } from "../local-stt/chat-lab-page.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let folder: string;
let browser: Browser;
let server: DemoServer;
let runs: DemoRuns;
let client: Antiphon;

describe.skipIf(CHROMIUM === null)("the playground", () => {
  beforeAll(async () => {
    buildPages();
    folder = await mkdtemp(join(tmpdir(), "antiphon-playground-"));
    await writeFile(join(folder, "spoken.wav"), wavFile(sound(700, "three", 300, "one", 60_000), 16_000));
    [browser, server] = await Promise.all([startChromium({ hears: join(folder, "spoken.wav") }), startDemoServer()]);
    runs = await makeDemoRuns(server);
    client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  async function open(query = "?page=playground"): Promise<Page> {
    const page = await openInspector(browser, { server, query });
    await page.getByLabel("Message").waitFor();
    return page;
  }

  async function say(page: Page, text: string): Promise<void> {
    await page.getByLabel("Message").fill(text);
    await page.keyboard.press("Enter");
  }

  /** The items of the conversation, in order, each as `title: text`. */
  const conversation = (page: Page): Promise<string> => page.getByRole("list", { name: "Conversation" }).innerText();

  test("chats, turn after turn, by keyboard alone", async () => {
    const page = await open();
    await page.getByLabel("Message").focus();
    await page.keyboard.type("Say good morning.");
    await page.keyboard.press("Enter");
    await expect.poll(() => conversation(page)).toMatch(/Assistant[\s\S]*good morning/i);
    await page.getByRole("link", { name: "Inspect" }).waitFor();
    await page.keyboard.type("What did I say?");
    await page.keyboard.press("Enter");
    await expect.poll(() => conversation(page)).toContain('You said: "Say good morning."');
    await page.getByRole("link", { name: "Inspect" }).nth(1).click();
    await page.getByRole("tab", { name: "Overview" }).waitFor();
  });

  test("asks whether an MCP call may run, and answers a function in place", async () => {
    const page = await open();
    await page.getByLabel("Model", { exact: true }).fill("atlas-mini");
    await page.getByLabel("Add a tool").selectOption("MCP server");
    await page.getByText("mcp my_server").click();
    const weather = { type: "mcp", server_label: "weather", server_url: server.mcpUrl };
    await page.getByLabel("Tool mcp my_server").fill(JSON.stringify(weather));
    await say(page, "Please refund order A-1042.");
    await page.getByRole("group", { name: "Approve refund_order" }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Approve" }).click();
    await expect.poll(() => conversation(page)).toContain("Order A-1042 is refunded.");

    await page.getByRole("button", { name: "New chat" }).click();
    const find = { type: "function", name: "find_invoice", parameters: { type: "object", properties: {} } };
    await page.getByLabel("Tool mcp weather").fill(JSON.stringify(find));
    await say(page, "Was invoice 7731 paid?");
    await page.getByLabel("Output of Function find_invoice").fill('{"paid":true}');
    await page.getByRole("button", { name: "Send the output" }).click();
    await expect.poll(() => conversation(page)).toContain("Invoice 7731 was paid on 3 March.");
  });

  test("offers a tool of every kind, and says when one is no JSON", async () => {
    const page = await open();
    const kinds = await page.getByLabel("Add a tool").locator("option").allTextContents();
    for (const kind of kinds.slice(1)) await page.getByLabel("Add a tool").selectOption({ label: kind });
    expect(await page.locator(".tool-card").count()).toBe(kinds.length - 1);
    await page.getByText("function get_weather").click();
    await page.getByLabel("Tool function get_weather").fill("{");
    await page.getByText("Tool 1 is no JSON object.").waitFor();
  });

  test("asks for JSON that fits a schema", async () => {
    const page = await open();
    await page.getByText("Answer", { exact: true }).click();
    await page.getByLabel("Format").selectOption("json schema");
    await say(page, "Say yes.");
    await expect.poll(() => conversation(page)).toContain('{"answer":');
  });

  test("sends pictures, files and the microphone", async () => {
    const page = await open();
    await page.getByLabel("Files", { exact: true }).setInputFiles([
      { name: "dot.png", mimeType: "image/png", buffer: PIXEL },
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("The tide is at noon.") },
    ]);
    await page.getByRole("list", { name: "Attached" }).getByText("notes.txt").waitFor();
    await page.getByRole("button", { name: "Record the microphone" }).click();
    await expect.poll(() => page.getByLabel("Level").getAttribute("value").then(Number)).toBeGreaterThan(0.05);
    await page.getByRole("button", { name: "Stop recording" }).click();
    await page.getByRole("list", { name: "Attached" }).getByText("recording.wav").waitFor();
    await keep(page, "inspector-attached");
    await page.getByRole("button", { name: "Remove recording.wav" }).click(); // This server has no ears.
    await say(page, "Say what you see.");
    await page.getByRole("link", { name: "Inspect" }).waitFor();
    await page.getByRole("img", { name: "Attached" }).waitFor();
    const id = new URL((await page.getByRole("link", { name: "Inspect" }).getAttribute("href")) ?? "", page.url());
    const { data } = await client.listInputItems(id.searchParams.get("run") ?? "");
    expect(JSON.stringify(data)).toContain("notes.txt");
  });

  test("stops an answer, and says what the server refuses", async () => {
    const page = await open();
    await page.getByLabel("Model", { exact: true }).fill("atlas-mini");
    await say(page, "Please wait for me.");
    await expect.poll(() => conversation(page)).toContain("I wait");
    await page.getByRole("button", { name: "Stop" }).click();
    await expect.poll(() => conversation(page)).toContain("stopped");
    await page.getByLabel("Model", { exact: true }).fill("no-such-model");
    await say(page, "Hello.");
    await page.getByRole("alert").getByText("no-such-model").waitFor();
  });

  test("forks a run: changes it, runs it again, and compares both", async () => {
    const page = await openInspector(browser, { server, query: `?run=${runs.shortWeekend.id}` });
    await page.getByText("No rule broken").waitFor();
    await page.keyboard.press("f");
    await page.getByRole("heading", { name: "Fork" }).waitFor();
    expect(await page.getByLabel("Message").inputValue()).toBe(
      "Plan a weekend in Lisbon for two, not too much walking.",
    );
    expect(await page.getByLabel("Instructions").inputValue()).toBe("Be brief.");
    await page.getByLabel("Message").fill("Say something else.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("link", { name: "Compare with the original" }).click();
    const request = page.getByRole("region", { name: "Request of the right run" });
    await expect.poll(() => request.locator("mark").allTextContents()).toContain('else.",');
  });

  test("asks several models the same side by side, turn after turn", async () => {
    verifies("inspection.page.playground-compares-and-gives-code");
    const page = await open();
    const models = (await client.listModels()).data.map(({ id }) => id);
    const [first = "", second = ""] = models;
    await page.getByLabel("Other models, to compare with").fill(`${second}, ${first}`);
    for (const text of ["Say good morning.", "Say good night."]) {
      await say(page, text);
      await page.getByRole("button", { name: "Send" }).waitFor();
      for (const model of [first, second])
        await page.getByRole("region", { name: model, exact: true }).getByText("completed").last().waitFor();
    }
    const links = page.getByRole("link", { name: "Inspect" });
    await expect.poll(() => links.count()).toBe(4);
    const { data } = await client.listResponses({ limit: 4 });
    expect(data.map(({ model }) => model).toSorted()).toEqual([first, first, second, second].toSorted());
    const continued = data.filter(({ previous_response_id: previous }) => previous !== null);
    expect(continued.map(({ input_preview: input }) => input)).toEqual(["Say good night.", "Say good night."]);
    for (const { model, previous_response_id: previous } of continued)
      expect(data.find(({ id }) => id === previous)?.model).toBe(model);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "New chat" }).click();
    await expect.poll(() => links.count()).toBe(0);
  });

  test("gives the code of the request that it would send", async () => {
    verifies("inspection.page.playground-compares-and-gives-code");
    const page = await open();
    await page.getByLabel("Instructions").fill("Be short.");
    await page.getByLabel("Message").fill("It's a question");
    await page.getByRole("button", { name: "Code" }).click();
    const command = await page.getByRole("region", { name: "curl" }).innerText();
    const env = { PATH: process.env["PATH"], ANTIPHON_API_KEY: server.apiKey };
    const { stdout } = await promisify(execFile)("bash", ["-c", command], { env });
    expect(stdout).toContain("event: response.completed");
    const [run] = (await client.listResponses({ limit: 1 })).data;
    expect(run?.input_preview).toBe("It's a question");
    await page.getByRole("tab", { name: "Python" }).click();
    await page.getByText('instructions="Be short.",').waitFor();
    await page.keyboard.press("Escape");
    await say(page, "It's a question");
    await page.getByRole("link", { name: "Inspect" }).waitFor();
    await page.getByRole("button", { name: "Code" }).click();
    expect(await page.getByRole("region", { name: "curl" }).innerText()).toContain("It's a question"); // The last one.
  });

  test("has the place to write above everything else on a phone", async () => {
    verifies("inspection.page.playground-compares-and-gives-code");
    const phone = { viewport: { width: 390, height: 844 } };
    const page = await openInspector(browser, { server, query: "?page=playground" }, phone);
    const top = async (name: string): Promise<number> =>
      (await page.getByText(name, { exact: true }).first().boundingBox())?.y ?? -1;
    const message = (await page.getByLabel("Message").boundingBox())?.y ?? -1;
    expect(message).toBeGreaterThan(0);
    expect(message).toBeLessThan(await top("Settings"));
    expect(message).toBeLessThan(await top("Try a model with every setting the API has."));
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("forks after any item", async () => {
    const page = await openInspector(browser, { server, query: `?run=${runs.invoice.id}` });
    await page.getByText("No rule broken").waitFor();
    await page
      .getByRole("article", { name: "Function find_invoice" })
      .getByRole("button", { name: "Fork after this item" })
      .click();
    const seed = page.getByRole("region", { name: "Items to begin with" });
    await expect.poll(() => seed.getByRole("article").count()).toBe(2);
    await seed.getByRole("button", { name: "Leave out Function find_invoice" }).click();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByLabel("Output of Function find_invoice").waitFor();
  });

  test.each([
    ["wide-light", { colorScheme: "light" }],
    ["wide-dark", { colorScheme: "dark" }],
    ["phone-light", { viewport: { width: 390, height: 844 }, colorScheme: "light" }],
    ["phone-dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
  ] as const)("has no accessibility faults: %s", async (name, options) => {
    const page = await openInspector(browser, { server, query: "?page=playground" }, options);
    await page.getByLabel("Message").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await say(page, "Say good morning.");
    await page.getByRole("link", { name: "Inspect" }).waitFor();
    if (name.startsWith("phone")) await page.getByText("Settings", { exact: true }).click();
    for (const part of ["Answer", "Reasoning and sampling", "Request"])
      await page.getByText(part, { exact: true }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page, `inspector-playground-${name}`);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});
