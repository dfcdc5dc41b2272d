import { validateVectorStoreSearchRequest } from "@antiphon/contracts/responses-api/validators.js";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { refusalOf, schemaRefusalOf } from "../errors/validation/refusal.fixture.ts";
import { echoHostedTool } from "../offered-tools/echo-hosted-tool.ts";
import { storeChange } from "../operations/vector-stores/modify-vector-store.ts";
import { storeFilePage, storePage } from "../vector-store-requests/list-page.ts";
import { checkFileSearch, searchOfRequest } from "./passage-search.ts";

const YEAR = { type: "gte", key: "year", value: 1900 } as const;

test("a search without settings wants ten passages of any score, in the best order", () => {
  expect(searchOfRequest("vs_1", { query: "sea" })).toEqual({
    storeIds: ["vs_1"],
    queries: ["sea"],
    filter: null,
    resultsMax: 10,
    scoreMin: 0,
    weights: null,
    order: "best",
    rewrites: false,
  });
});

test("a search takes its settings", () => {
  const ranking_options = { ranker: "none", score_threshold: 0.5 } as const;
  const query = ["sea", "ocean"];
  expect(searchOfRequest("vs_1", { query, filters: YEAR, max_num_results: 3, ranking_options })).toEqual({
    storeIds: ["vs_1"],
    queries: query,
    filter: YEAR,
    resultsMax: 3,
    scoreMin: 0.5,
    weights: null,
    order: "score",
    rewrites: false,
  });
  expect(refusalOf(() => searchOfRequest("vs_1", { query, filters: { ...YEAR, type: "in" } }))).toContain(
    "invalid_type filters.value",
  );
});

test("questions are not empty, and are 32 at most", () => {
  const check = (query: unknown) => schemaRefusalOf(validateVectorStoreSearchRequest, { query });
  expect(check(Array.from({ length: 32 }, () => "sea"))).toBeNull();
  expect(check(Array.from({ length: 33 }, () => "sea"))).toContain("array_above_max_length query");
  expect(check([])).toContain("array_below_min_length query");
  expect(check("")).toContain("string_below_min_length query");
  expect(check(["sea", ""])).toContain("string_below_min_length query[1]");
  expect(check(3)).toContain("invalid_type query");
  expect(check(undefined)).toContain("missing_required_parameter query");
});

test("the tool is echoed with its defaults", () => {
  verifies("tools.file-search.echo-fills-defaults");
  const tool = { type: "file_search" as const, vector_store_ids: ["vs_1"] };
  const echo = echoHostedTool(tool);
  expect(JSON.stringify(echo)).toBe(
    '{"type":"file_search","filters":null,"max_num_results":20,"ranking_options":{"ranker":"auto","score_threshold":0},"vector_store_ids":["vs_1"]}',
  );
  const ranking_options = {
    ranker: "default-2024-11-15" as const,
    hybrid_search: { embedding_weight: 1, text_weight: 0 },
  };
  expect(echoHostedTool({ ...tool, filters: YEAR, max_num_results: 5, ranking_options })).toEqual({
    ...tool,
    filters: YEAR,
    max_num_results: 5,
    ranking_options: { ...ranking_options, score_threshold: 0 },
  });
});

test("a file search that makes no sense is refused by its path", () => {
  verifies("vector-stores.filters.values-suit-types");
  const check = (members: object) =>
    refusalOf(() => checkFileSearch({ type: "file_search", vector_store_ids: ["vs_1"], ...members }, "tools[2]"));
  expect(check({ filters: YEAR })).toBeNull();
  expect(check({ filters: { type: "and", filters: [{ ...YEAR, value: true }] } })).toContain(
    "invalid_type tools[2].filters.filters[0].value",
  );
  expect(check({ ranking_options: { hybrid_search: { embedding_weight: 0, text_weight: 0 } } })).toContain(
    "invalid_value tools[2].ranking_options.hybrid_search",
  );
});

test("a change names what it changes, and null takes away", () => {
  expect(storeChange({})).toEqual({});
  expect(storeChange({ name: "Letters" })).toEqual({ name: "Letters" });
  expect(storeChange({ name: null, metadata: null, expires_after: null })).toEqual({
    name: "",
    metadata: {},
    expiresAfterDays: null,
  });
  expect(storeChange({ expires_after: { anchor: "last_active_at", days: 3 } })).toEqual({ expiresAfterDays: 3 });
});

test("a list has twenty entries, the newest first, unless the query says more", () => {
  expect(storePage({})).toEqual({ limit: 20, order: "desc", after: null, before: null });
  expect(storeFilePage({ limit: 5, order: "asc", after: "a", before: "b", filter: "failed" }, "vsfb_1")).toEqual({
    limit: 5,
    order: "asc",
    after: "a",
    before: "b",
    status: "failed",
    batchId: "vsfb_1",
  });
  expect(storeFilePage({}, null)).toMatchObject({ status: null, batchId: null });
});
