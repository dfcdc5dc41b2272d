import { expect, test } from "vitest";
import { shortenPage } from "./page-calls.ts";

const PAGE = "[web:1] Herons\n7: They wait.\n8: They fish.\n9: They fly.\nLinks:\n- more: https://example.com/";

test.each([
  [45, "[web:1] Herons\n7: They wait.\n8: They fish.", 9],
  [20, "[web:1] Herons", 7],
])("a page is cut at its lines, and the next call goes on behind them (%i)", (charactersMax, text, next) => {
  const shown = shortenPage({ name: "open_page", text: PAGE }, charactersMax);
  expect(shown.text).toBe(text);
  expect(shown.notice).toContain(`${PAGE.length - text.length} characters, was left out`);
  expect(shown.notice).toContain(`from_line ${next} to go on.`);
});

test("hits of a search are cut like any text", () => {
  expect(shortenPage({ name: "web_search", text: PAGE }, 20).notice).toContain("Only the first");
});
