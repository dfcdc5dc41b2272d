import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { bannerLines, joinedLines, terminalBanner } from "./start-banner.ts";

const LINES = [
  ["Responses API", "http://127.0.0.1:8080/v1"],
  ["API key", "kept in data/api-key"],
] as const;
const NEXT = { url: "http://127.0.0.1:8080", keyFile: "data/api-key", model: "antiphon-built-in" };

test("scripts get one line for each fact, without colour", () => {
  expect(bannerLines(LINES)).toEqual([
    "Responses API      http://127.0.0.1:8080/v1",
    "API key            kept in data/api-key",
  ]);
});

test("of several processes, the one that made the key tells of it", () => {
  const [address, place] = bannerLines(LINES);
  const made = "API key            sk-antiphon-1   (shown this once; kept in data/api-key)";
  expect(joinedLines([address ?? "", place ?? "", made])).toEqual([address, made]);
  expect(joinedLines([address ?? "", place ?? ""])).toEqual([address, place]);
});

test("a person is told the version, the addresses and a command that works as it stands", () => {
  verifies("config.start.banner-says-what-next");
  const shown = terminalBanner({ lines: LINES, next: NEXT }, "0.2.0", false).join("\n");
  expect(shown).toContain("  Antiphon 0.2.0\n\n  Responses API      http://127.0.0.1:8080/v1\n");
  expect(shown).toContain(
    `curl http://127.0.0.1:8080/v1/responses -H "Authorization: Bearer $(cat data/api-key)" -H "Content-Type: application/json" -d '{"model": "antiphon-built-in", "input": "Hello"}'`,
  );
  expect(shown).not.toContain("\u001B");
});

test("with a model server, whose models only it knows, the banner says how to list them", () => {
  const next = { ...NEXT, keyFile: null, model: null };
  const shown = terminalBanner({ lines: LINES, next }, "0.2.0", true).join("\n");
  expect(shown).toContain('curl http://127.0.0.1:8080/v1/models -H "Authorization: Bearer YOUR_KEY"');
  expect(shown).toContain("\u001B[1mAntiphon 0.2.0\u001B[22m");
});
