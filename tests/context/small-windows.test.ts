import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { readResponse } from "../responses/read-stream.ts";
import { CODE_ENGINE, HAS_BUBBLEWRAP } from "../tools/code-engines.ts";
import { createStore, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";
import {
  type ChatBody,
  countTokens,
  type Made,
  resultsIn,
  servePage,
  serveReader,
  serverFor,
  serveWindow,
} from "./small-window.fixture.ts";

const WINDOWS = [4096, 8192, 32_768];
/** As the server reserves it for answers. */
const ANSWER_TOKENS = 1024;
const TURN_SHARE = 0.4;
/** A book of 60,000 characters, half as many tokens, each paragraph with its number. */
const BOOK = Array.from({ length: 300 }, (_, index) => {
  const words = Array.from({ length: 30 }, (_word, place) => `heron${(index * 31 + place * 7) % 97}`);
  return `Paragraph ${index + 1}. ${words.join(" ")}`.slice(0, 198);
}).join("\n\n");

/** What each kind of tool is, how it is called first, second and third, and what its cut result says. */
interface Case {
  readonly tool: object;
  readonly made: readonly Made[];
  readonly notice: RegExp;
}

type ToolCalls = readonly (readonly [tool: object, made: readonly Made[]])[];

function checkTurns(
  { asked, sizes }: { readonly asked: readonly ChatBody[]; readonly sizes: readonly number[] },
  window: number,
) {
  const room = window - Math.min(ANSWER_TOKENS, window / 4);
  for (const size of sizes) expect(size).toBeLessThanOrEqual(room);
  return asked.map((body) => resultsIn(body));
}

verifies("tools.results.fit-the-window");

test.each(WINDOWS)(
  "in a window of %i tokens a large result of any tool gets its share, and the newest is never dropped",
  async (window) => {
    const [model, page, reader] = await Promise.all([serveWindow(window), servePage(BOOK), serveReader(BOOK)]);
    const server = await serverFor(model, { ...page.env, MODEL_CONTEXT_WINDOW: String(window) });
    const storeId = await createStore(server, [await upload(server, "book.txt", BOOK)]);
    await takenIn(server, storeId);
    const cases: readonly Case[] = [
      {
        tool: { type: "file_search", vector_store_ids: [storeId], max_num_results: 50 },
        made: [1, 3, 5].map((from) => ["file_search", { queries: ["heron1 heron2"], from_passage: from }]),
        notice: /more passages were left out. Search again with from_passage \d+/,
      },
      {
        tool: reader,
        made: [1, 2, 3].map((part) => ["books__read", { part }]),
        notice: /Only the first \d+ of \d+ characters are shown.*To see more, ask for less/,
      },
      {
        tool: { type: "web_search" },
        made: [1, 50, 90].map((from) => ["open_page", { url: page.url, from_line: from }]),
        notice: /Open (?:the page|it) with from_line \d+/,
      },
    ];
    for (const { tool, made, notice } of cases)
      for (const truncation of window === 8192 ? ["disabled", "auto"] : ["disabled"]) {
        model.play([...made.map((one) => [one]), "Read."]);
        const body = { model: "m", input: `Read ${page.url}`, tools: [tool], truncation, max_output_tokens: 1024 };
        const response = await readResponse(await server.post("/v1/responses", body));
        expect(response.status).toBe("completed");
        const shown = checkTurns(model, window);
        expect(shown.map(({ length }) => length)).toEqual([0, 1, 2, 3]);
        for (const results of shown.slice(1)) {
          const newest = results.at(-1) ?? "";
          expect(newest).toContain("heron");
          expect(newest).toMatch(notice);
          expect(await countTokens(newest)).toBeLessThanOrEqual(TURN_SHARE * window);
        }
        expect(wholeOutput(response)).toBe(BOOK);
      }
  },
);

/** Prints as many characters as the book has, from number `from` on. */
function countingFrom(from: number): string {
  return `print(*(f"heron{n}" for n in range(${from}, ${from} + 6000)), sep="\\n")`;
}

test.each(WINDOWS)(
  "in a window of %i tokens what code and commands print gets its share, too",
  async (window) => {
    const model = await serveWindow(window);
    const server = await serverFor(model, { ...CODE_ENGINE, MODEL_CONTEXT_WINDOW: String(window) });
    const code = [1, 2, 3].map((from): Made => ["code_interpreter", { code: countingFrom(from) }]);
    const commands = [1, 2, 3].map((from): Made => ["shell", { commands: [`seq -f heron%.0f ${from} 6000`] }]);
    const shell: ToolCalls = [[{ type: "shell", environment: { type: "container_auto" } }, commands]];
    const cases: ToolCalls = [
      [{ type: "code_interpreter", container: { type: "auto" } }, code],
      ...(HAS_BUBBLEWRAP ? shell : []),
    ];
    for (const [tool, made] of cases) {
      model.play([...made.map((one) => [one]), "Read."]);
      const body = { model: "m", input: "Count", tools: [tool], max_output_tokens: 1024 };
      expect((await readResponse(await server.post("/v1/responses", body))).status).toBe("completed");
      const shown = checkTurns(model, window);
      expect(shown.map(({ length }) => length)).toEqual([0, 1, 2, 3]);
      for (const results of shown.slice(1)) {
        const newest = results.at(-1) ?? "";
        expect(newest).toContain("heron3");
        expect(newest).toMatch(/Only the first \d+ of \d+ characters|left out/);
        expect(await countTokens(newest)).toBeLessThanOrEqual(TURN_SHARE * window);
      }
    }
  },
  60_000,
);

/** What the client is shown of an MCP call; the whole book for other tools, which show the client less. */
function wholeOutput({ output }: ResponseBody): string {
  const call = output.find((item) => item.type === "mcp_call");
  return call?.type === "mcp_call" ? (call.output ?? "") : BOOK;
}

test("calls of one turn share its budget, and older results become notices before newer ones", async () => {
  const [model, reader] = await Promise.all([serveWindow(8192), serveReader(BOOK)]);
  const server = await serverFor(model, { MODEL_CONTEXT_WINDOW: "8192", EGRESS_ALLOW: "127.0.0.1" });
  const turns = [1, 2, 3, 4].map((turn): readonly Made[] => [
    ["books__read", { turn }],
    ["books__read", { turn, again: true }],
  ]);
  model.play([...turns, "Read."]);
  const body = { model: "m", input: "Read", tools: [reader] };
  expect((await readResponse(await server.post("/v1/responses", body))).status).toBe("completed");
  const shown = checkTurns(model, 8192);
  const [one = "", other = ""] = shown[1] ?? [];
  expect(Math.abs((await countTokens(one)) - (await countTokens(other)))).toBeLessThan(100);
  const isLeftOut = (shown[4] ?? []).map((text) => text.includes("You were shown this result before"));
  expect(isLeftOut).toEqual(isLeftOut.toSorted((before, after) => Number(after) - Number(before)));
  expect([isLeftOut[1], isLeftOut.slice(-4)]).toEqual([true, [false, false, false, false]]);
  expect(shown[2]?.slice(0, 2)).toEqual(shown[1]); // What fits stays as it was, so that prompt caches hold.
});

test("the results of earlier responses are cut, too, also where no tool is offered any more", async () => {
  const [model, reader] = await Promise.all([serveWindow(4096), serveReader(BOOK)]);
  const server = await serverFor(model, { MODEL_CONTEXT_WINDOW: "4096", EGRESS_ALLOW: "127.0.0.1" });
  model.play([[["books__read", {}]], "Read."]);
  const first = await readResponse(await server.post("/v1/responses", { model: "m", input: "Read", tools: [reader] }));
  const more = { model: "m", input: "And now?", previous_response_id: first.id };
  expect((await readResponse(await server.post("/v1/responses", more))).status).toBe("completed");
  const [results] = checkTurns({ asked: model.asked.slice(-1), sizes: model.sizes.slice(-1) }, 4096);
  expect(results?.[0]).toMatch(/Only the first \d+ of/);
});

test("a result of the client is cut for truncation auto where nothing else can be left out", async () => {
  const model = await serveWindow(4096);
  const server = await serverFor(model, { MODEL_CONTEXT_WINDOW: "4096" });
  model.play(["Read."]);
  const input = [
    { role: "user", content: "Read" },
    { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: BOOK },
  ];
  const reply = await server.post("/v1/responses", { model: "m", input, truncation: "auto" });
  expect((await readResponse(reply)).status).toBe("completed");
  const [results] = checkTurns(model, 4096);
  expect(results?.[0]).toContain("Paragraph 1.");
  expect(results?.[0]).toMatch(/Only the first \d+ of \d+ characters/);
  expect((await server.post("/v1/responses", { model: "m", input })).status).toBe(400);
});
