import { isRendering } from "@antiphon/speech/formatting/is-rendering.ts";
import { SentenceCutter } from "@antiphon/speech/voices/sentences/sentence-cutter.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redact } from "../../src/model-engines/model-server/errors/redact.ts";
import { cpuMsOf } from "../kit/cpu-time.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const MESSAGE_STARTS = [
  "hello ",
  "say ",
  "write ",
  "what is my ",
  "what is ",
  "thanks ",
  "please ",
  "summarize ",
  "count to ",
  "",
];
/** The part to repeat before an end that matches nowhere. */
const REPEATED = [" ", "\n", "a", "1", "-", "(", "!", " my", "say ", "write ", "“", "'", "```\n", "A and ", "a@a."];
const MESSAGE_CHARACTERS = 40_000;
/** Long enough that quadratic work took forty seconds, and linear work takes none. */
const MESSAGE_CPU_MS_MAX = 1_500;

describe("a client's text", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const answer = async (input: string, members: object = {}): Promise<number> => {
    const { ms, result } = await cpuMsOf(() =>
      server.post("/v1/responses", { model: "antiphon-built-in", input, max_output_tokens: 16, ...members }),
    );
    expect(result.status, await result.text()).toBe(200);
    return ms;
  };

  test.each(MESSAGE_STARTS)("is understood quickly, whatever follows %j", async (start) => {
    verifies("limits.work.texts-in-linear-time");
    for (const repeated of REPEATED) {
      const text = `${start}${repeated.repeat(MESSAGE_CHARACTERS / repeated.length)}\u0001x`;
      expect(await answer(text), JSON.stringify(repeated)).toBeLessThan(MESSAGE_CPU_MS_MAX);
    }
  });

  test.each([
    ["repeated directives", `start: "x"\n%ignore /${"s ".repeat(9_000)}\n`],
    ["texts without an end", `start: ${'"\\'.repeat(9_000)}\n`],
    ["expressions without an end", `start: ${"/\\".repeat(9_000)}\n`],
    ["comments", `start: "x"${" // ".repeat(4_000)}\r\n`],
    ["repetitions in repetitions", 'start: (((("x"~1000)~1000)~1000)~1000)~1000\n'],
    [
      "many long expressions",
      Array.from({ length: 600 }, (_, index) => `r${index}: r${index + 1} | /(a{90}){90}/\n`).join(""),
    ],
  ])("may be a grammar with %s", async (_name, definition) => {
    verifies("limits.work.texts-in-linear-time");
    const tools = [{ type: "custom", name: "c", format: { type: "grammar", syntax: "lark", definition } }];
    const ms = await answer("Go", { tools, tool_choice: { type: "custom", name: "c" } });
    expect(ms).toBeLessThan(MESSAGE_CPU_MS_MAX);
  });

  test.each([
    ["x".repeat(64), 200],
    ["x".repeat(65), 400],
    ["😀".repeat(64), 200],
    ["😀".repeat(65), 400],
  ])("is measured in characters, whatever their encoding", async (identifier, status) => {
    verifies("errors.catalogue.string-too-long");
    const reply = await server.post("/v1/responses", {
      model: "antiphon-built-in",
      input: "hi",
      safety_identifier: identifier,
    });
    expect(reply.status).toBe(status);
  });

  test("may ask for a fact with a name of any length", async () => {
    expect(await answer(`what is my ${"a".repeat(50_000)}`)).toBeLessThan(MESSAGE_CPU_MS_MAX);
  });
});

describe("a model server's text", () => {
  test.each([
    ["line breaks", `${"-".repeat(20)}${"\n".repeat(390)}${"x\n".repeat(200)}`],
    ["dots", "a.".repeat(400)],
    ["signs of tables", `${"\t".repeat(200)}-:${"\t".repeat(198)}`.repeat(4)],
    ["brackets", "[](".repeat(270)],
  ])("is cut into sentences in a moment: %s", async (_name, text) => {
    verifies("limits.work.texts-in-linear-time");
    const { ms } = await cpuMsOf(() => {
      const cutter = new SentenceCutter();
      for (let round = 0; round < 20; round += 1) cutter.push(text);
      cutter.end();
    });
    expect(ms).toBeLessThan(2_000);
  });

  test("may open a code block with a line that never ends", async () => {
    verifies("limits.work.texts-in-linear-time");
    const pushed = async (pieces: number): Promise<number> => {
      const cutter = new SentenceCutter();
      cutter.push("Look:\n```\n");
      const { ms } = await cpuMsOf(() => {
        for (let piece = 0; piece < pieces; piece += 1) cutter.push("~~~~");
      });
      return ms;
    };
    await pushed(1_000);
    expect(await pushed(100_000)).toBeLessThan(2_000);
  });

  test("is redacted quickly, however long the error is", async () => {
    verifies("limits.work.texts-in-linear-time");
    const { ms, result } = await cpuMsOf(() =>
      redact(`${"A+".repeat(4_000_000)} eyJJJJJJJJJJ-`, { apiKey: null, host: "h" }),
    );
    expect(result.length).toBeLessThanOrEqual(500);
    expect(ms).toBeLessThan(1_000);
  });
});

describe("recognising a rendering", () => {
  const words = (count: number, length: number): string =>
    Array.from(
      { length: count },
      (_, index) => `a${index.toString(2).padStart(length, "b").replaceAll("0", "c").replaceAll("1", "d")}`,
    ).join(" ");

  test.each([
    ["words that are nearly alike", words(2_400, 12), words(2_400, 13)],
    ["words of thirty letters", words(2_400, 30), words(2_400, 31)],
    ["one endless word", "a".repeat(100_000), "a".repeat(99_999)],
    ["an answer of megabytes", "hello", "hello ".repeat(1_000_000)],
    ["letters that become many", "\uFDFA".repeat(20_000), "\uFDFA".repeat(20_000)],
  ])("leaves the loop to others: %s", async (_name, original, text) => {
    verifies("limits.work.texts-in-linear-time");
    let [turns, longestMs, last] = [0, 0, performance.now()];
    let isDone = false;
    const watch = (): void => {
      turns += 1;
      const now = performance.now();
      longestMs = Math.max(longestMs, now - last);
      last = now;
      if (!isDone) setImmediate(watch);
    };
    setImmediate(watch);
    const { ms } = await cpuMsOf(() => isRendering(original, text));
    isDone = true;
    expect(ms).toBeLessThan(15_000);
    if (ms > 200) expect(turns, `${turns} turns, the longest ${longestMs} ms`).toBeGreaterThan(10);
  });
});
