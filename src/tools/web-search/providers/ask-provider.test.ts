import { expect, test } from "vitest";
import { hitsOf } from "./ask-provider.ts";

const NAMES = { url: "url", title: "title", snippets: ["snippet"], date: "published" };

test("markup is taken out of the beginning of long texts, and the rest is not looked at", () => {
  const hit = {
    url: "https://a.test/",
    title: `${"<b>".repeat(1000)}late`,
    snippet: `<b>early</b>${"<b>".repeat(10_000)}late`,
  };
  expect(hitsOf([hit], NAMES)).toEqual([{ url: "https://a.test/", title: "", snippet: "early", date: null }]);
});
