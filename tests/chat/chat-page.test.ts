import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtPage } from "../built-page.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { serveHttp } from "../kit/http-server.ts";
import { accessibilityFaults, keep } from "../local-stt/chat-lab-page.ts";
import { verifies } from "../verifies.ts";
import { serveWrittenModel } from "./reloaded-model.ts";

if (CHROMIUM === null)
  console.warn("Tests of the chat page are left out: there is no Chromium. CHROMIUM_PATH names one.");

const PAGE = new URL("../../examples/chat-page/", import.meta.url).pathname;
const TYPES: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css" };

const PLACES = ["reasoning", "text", "call", "answer", "the end"] as const;
type Place = "nowhere" | (typeof PLACES)[number];

/** The first of these tests has two whole chats. */
const CHATS = { timeout: 180_000 };

let browser: Browser;
let files: ReadonlyMap<string, string>;
/** What the page shows that was not reloaded. */
let whole: string | null = null;

describe.skipIf(CHROMIUM === null)("a page with the AI SDK's useChat", () => {
  beforeAll(async () => {
    files = await builtPage(PAGE);
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  test.each(PLACES)("shows the same after a reload at this place as without one: %s", CHATS, async (place) => {
    verifies("client.chat.survives-a-reload");
    whole ??= await chatReloadedAt("nowhere");
    expect(whole).toContain("First the numbers, then their sum.");
    expect(whole).toContain("I will add them.");
    expect(whole).toMatch(/add_numbers.*"a":2.*"b":40.*42.*The sum is 42\./s);
    expect(await chatReloadedAt(place)).toBe(whole);
  });

  test("stops a response for good, also after a reload", async () => {
    verifies("client.chat.survives-a-reload");
    const { page, model } = await openChat();
    await say(page, "Count");
    const call = await model.call(0);
    call.say("One, two");
    await page.getByText("One, two").waitFor();
    await page.reload();
    await page.getByText("One, two").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("main[aria-busy=false]").waitFor();
    await page.reload();
    await page.locator("main[aria-busy=false]").waitFor();
    await page.getByText("One, two").waitFor();
    expect(await page.locator("article").count()).toBe(2);
  });

  test("tells an error of the model, and continues after it", async () => {
    const { page, model } = await openChat();
    await say(page, "Fail");
    (await model.call(0)).finish("content_filter");
    await page.locator("main[aria-busy=false]").waitFor();
    await say(page, "Again");
    const call = await model.call(1);
    call.say("Well then.");
    call.finish("stop");
    await page.getByText("Well then.").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

/** A whole chat of two responses, with a reload at one place. Returns what the page shows in the end. */
async function chatReloadedAt(place: Place): Promise<string> {
  const { page, model } = await openChat();
  const arriveAt = async (at: Place, words: string): Promise<void> => {
    await page.getByText(words).waitFor();
    if (at !== place) return;
    await page.reload();
    await page.getByText(words).waitFor(); // From the server, because the page kept only what was asked.
  };
  await say(page, "What is 2 and 40?");
  const first = await model.call(0);
  first.reason("First the numbers");
  await arriveAt("reasoning", "First the numbers");
  first.reason(", then their sum.");
  first.say("I will ");
  await arriveAt("text", "I will");
  first.say("add them.");
  first.callWith('{"a":2');
  await arriveAt("call", '{"a":2');
  first.callWith(',"b":40}');
  first.finish("tool_calls");
  const second = await model.call(1);
  second.say("The sum ");
  await arriveAt("answer", "The sum");
  second.say("is 42.");
  second.finish("stop");
  await page.getByText("The sum is 42.").waitFor();
  await page.locator("main[aria-busy=false]").waitFor();
  if (place === "the end") {
    await page.reload();
    await page.getByText("The sum is 42.").waitFor();
    await page.locator("main[aria-busy=false]").waitFor();
  }
  expect([place, model.count()]).toEqual([place, 2]);
  const shown = await page.locator("main").innerHTML();
  if (place === "answer") await keep(page, "chat-page-reloaded");
  await page.context().close();
  return shown;
}

async function openChat() {
  const site = await serveHttp((request, reply) => {
    const name = (request.url ?? "/").slice(1) || "index.html";
    reply.writeHead(files.has(name) ? 200 : 404, {
      "content-type": TYPES[name.split(".").at(-1) ?? ""] ?? "text/plain",
    });
    reply.end(files.get(name));
  });
  const model = await serveWrittenModel({ CORS_ORIGINS: site.url });
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(site.url);
  await page.getByLabel("Base URL").fill(`${model.server.url}/v1`);
  await page.getByLabel("Key").fill(model.server.apiKey);
  await page.getByLabel("Model").fill("m");
  await page.getByRole("button", { name: "Chat" }).click();
  return { page, model };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}
