import { expect, test } from "vitest";
import type { ResponsesApi } from "../../../packages/client/src/index.ts";
import { csvOf, jsonLinesOf } from "./list-files.ts";
import { orderRuns, totalsOf } from "./order-runs.ts";

type Run = ResponsesApi.ResponseSummary;

function run(id: string, more: Partial<Run> = {}): Run {
  return {
    id,
    object: "response.summary",
    created_at: 1_700_000_000,
    completed_at: null,
    status: "completed",
    is_live: false,
    kind: "plain",
    face: null,
    model: "m",
    background: false,
    conversation: null,
    previous_response_id: null,
    metadata: {},
    usage: null,
    price: null,
    error: null,
    incomplete_details: null,
    input_preview: "Hi",
    output_preview: "",
    tools: [],
    timing: { queued_ms: null, first_text_ms: null, duration_ms: null },
    key: null,
    ...more,
  };
}

const USAGE = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 12,
};

test("a table has a row for each run, and quotes what would break it", () => {
  const [head = "", row = "", end] = csvOf([
    run("resp_1", { input_preview: 'Say "a, b"', usage: USAGE, metadata: { team: "x" } }),
  ]).split("\r\n");
  expect(head.split(",").slice(0, 3)).toEqual(["id", "started", "status"]);
  expect(row).toContain("resp_1,2023-11-14T22:13:20.000Z,completed,,,m,plain,");
  expect(row).toContain(',5,7,,,"{""team"":""x""}","Say ""a, b""",');
  expect(end).toBe("");
});

test("no cell of a table is a formula", () => {
  expect(csvOf([run("resp_1", { input_preview: "=1+1" })])).toContain(",'=1+1,");
  expect(csvOf([run("resp_1", { output_preview: "@cmd" })])).toContain(",'@cmd");
});

test("lines of JSON have the runs as the API lists them", () => {
  const runs = [run("resp_1"), run("resp_2", { input_preview: "a\nb" })];
  const lines = jsonLinesOf(runs).trimEnd().split("\n");
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(runs);
});

test("runs are ordered by a figure, those without it last, and narrowed to a tool or an error", () => {
  const timing = (duration: number | null) => ({ queued_ms: 0, first_text_ms: null, duration_ms: duration });
  const runs = [
    run("none", { timing: timing(null) }),
    run("fast", { timing: timing(5), tools: ["web_search_call"] }),
    run("slow", { timing: timing(900), error: { code: "server_error", message: "No" } }),
  ];
  const ids = (sort: "started" | "duration", tool = "", error = ""): readonly string[] =>
    orderRuns(runs, { sort, tool, error }).map(({ id }) => id);
  expect(ids("started")).toEqual(["none", "fast", "slow"]);
  expect(ids("duration")).toEqual(["slow", "fast", "none"]);
  expect(ids("duration", "web_search_call")).toEqual(["fast"]);
  expect(ids("started", "", "server_error")).toEqual(["slow"]);
});

test("totals add tokens, and prices of each currency", () => {
  const price = (amount: number, currency: string) => ({ amount, currency });
  const runs = [
    run("a", { usage: USAGE, price: price(1, "USD") }),
    run("b", { usage: USAGE, price: price(2, "USD") }),
    run("c", { price: price(3, "EUR") }),
  ];
  expect(totalsOf(runs)).toEqual({
    runs: 3,
    inputTokens: 10,
    outputTokens: 14,
    prices: new Map([
      ["USD", 3],
      ["EUR", 3],
    ]),
  });
});
