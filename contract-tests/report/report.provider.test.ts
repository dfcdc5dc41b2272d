import { expect, test } from "vitest";
import { type Check, countsOf } from "./checks.ts";
import { renderReport } from "./render-report.ts";

const held: Check = {
  suite: "responses-api",
  provider: "ours",
  group: "the pact about events",
  name: "a request for a text",
  result: "held",
  reasons: [],
  durationMs: 3,
};
const failed: Check = {
  ...held,
  name: "a request for <b>",
  result: "failed",
  reasons: ["$.id: Expected 'a' & got \"b\""],
};
const skipped: Check = { ...held, provider: "reference", result: "skipped", reasons: ["the reference needs a key"] };

test("checks are counted by their results", () => {
  expect(countsOf([held, held, failed, skipped])).toEqual({ held: 2, failed: 1, skipped: 1 });
});

test("the page has a row for each check, a column for each provider, and the reasons", () => {
  const page = renderReport({
    startedAt: "2026-01-02T03:04:05.000Z",
    durationMs: 12_345,
    checks: [held, skipped, failed],
  });
  expect(page).toContain("1 held, 1 failed, 1 skipped");
  expect(page).toContain("<th>our server</th><th>the reference</th>");
  expect(page).toContain(
    '<th scope="row">a request for a text</th><td class="held">held</td><td class="skipped">skipped</td>',
  );
  expect(page).toContain(
    '<td class="failed">failed<pre>$.id: Expected &#39;a&#39; &#38; got &#34;b&#34;</pre></td><td></td>',
  );
  expect(page).toContain("1: the reference needs a key");
});

test("texts from replies are escaped on the page", () => {
  const page = renderReport({ startedAt: "", durationMs: 0, checks: [failed] });
  expect(page).not.toContain("<b>");
  expect(page).toContain("<details open>");
});
