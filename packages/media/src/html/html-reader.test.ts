import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { describe, expect, it } from "vitest";
import { HtmlReader } from "./html-reader.ts";

const LIMITS = { charactersMax: 100_000, articleMs: 3000, wholeMs: 5000 };
const PARAGRAPH = "The heron stands still in the shallow water, waits for a fish, and strikes within a blink. ".repeat(
  8,
);

describe("an HTML page", () => {
  it("gives its article with title and links, without navigation and scripts", async () => {
    const page = `<html><head><title>Herons &amp; fish</title><script>alert(1)</script></head><body>
      <nav><a href="/home">Home page</a></nav>
      <article><h1>Herons</h1><p>${PARAGRAPH}</p><p>${PARAGRAPH}<a href="/fish?id=2">About fish</a></p></article>
      </body></html>`;
    const read = await readPage(page);
    expect(read).toMatchObject({ type: "text", title: "Herons & fish" });
    expect(read.type === "text" && read.text).toContain("strikes within a blink");
    expect(read.type === "text" && read.text).not.toMatch(/alert|Home page/);
    expect(read.type === "text" && read.links).toStrictEqual([{ text: "About fish", href: "/fish?id=2" }]);
  });

  it("without an article gives its whole text, tables as tables", async () => {
    const read = await readPage("<title>Prices</title><table><tr><td>tea</td><td>3</td></tr></table>");
    expect(read).toMatchObject({ type: "text", title: "Prices", text: expect.stringMatching(/tea +3/) });
  });

  it.each([
    ["declares it", '<meta charset="windows-1252"><p>caf\xe9</p>', null],
    ["is sent with it", "<p>caf\xe9</p>", "latin1"],
  ])("is decoded by its charset if it %s", async (_how, html, charset) => {
    const read = await reader().read(Buffer.from(html, "latin1"), charset, new AbortController().signal);
    expect(read).toMatchObject({ type: "text", text: "café" });
  });

  it("that is nested without end is read as far as it can be", { timeout: 60_000 }, async () => {
    const page = Buffer.from(`${"<div>".repeat(20_000)}deep${"</div>".repeat(20_000)}<p>shallow</p>`);
    const patient = new HtmlReader({ ...LIMITS, wholeMs: 50_000 }, new Semaphore(2));
    const read = await patient.read(page, null, new AbortController().signal);
    expect(read.type).toBe("text");
  });

  it("of many megabytes of elements is read whole, or fails without harm", async () => {
    const read = await readPage("<p>word</p>".repeat(300_000));
    expect(["text", "too_costly"]).toContain(read.type);
  });

  it("that takes more processor time than its size allows is not read", async () => {
    const page = Buffer.from("<p>word</p>".repeat(100_000));
    const cpu = { baseMs: 5, msPerMebibyte: 5 };
    const read = await new HtmlReader({ ...LIMITS, wholeMs: 60_000, cpu }, new Semaphore(2)).readMarked(
      page,
      new AbortController().signal,
    );
    expect(read).toEqual({ type: "too_costly" });
  });

  it("is left when the signal aborts", async () => {
    const stop = new AbortController();
    const reading = reader().read(Buffer.from("<p>text</p>"), null, stop.signal);
    stop.abort(new Error("left"));
    await expect(reading).rejects.toThrow("left");
  });
});

function reader(): HtmlReader {
  return new HtmlReader(LIMITS, new Semaphore(2));
}

function readPage(html: string) {
  return reader().read(Buffer.from(html), null, new AbortController().signal);
}
