import type { ComparisonFilter, FileSearchFilter } from "@antiphon/contracts/responses-api/types.ts";
import { validateVectorStoreSearchRequest } from "@antiphon/contracts/responses-api/validators.js";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { refusalOf, schemaRefusalOf } from "../errors/validation/refusal.fixture.ts";
import { checkFilter } from "./check-filter.ts";

const compare = (type: ComparisonFilter["type"], value: ComparisonFilter["value"]): FileSearchFilter => ({
  key: "year",
  type,
  value,
});
const YEAR = compare("eq", 1900);
const and = (filters: FileSearchFilter[]): FileSearchFilter => ({ type: "and", filters });

/** A filter that lies this deep. */
function nested(levels: number): FileSearchFilter {
  return levels === 1 ? YEAR : and([nested(levels - 1)]);
}

const check = (filter: FileSearchFilter) => refusalOf(() => checkFilter(filter, "filters"));

test("values must suit their comparison, at any depth", () => {
  verifies("vector-stores.filters.values-suit-types");
  expect(check(compare("in", 1900))).toBe(
    "invalid_type filters.value: Invalid type for 'filters.value': expected an array, but got an integer instead.",
  );
  expect(check(and([YEAR, { type: "or", filters: [compare("nin", "a")] }]))).toBe(
    "invalid_type filters.filters[1].filters[0].value: Invalid type for 'filters.filters[1].filters[0].value': expected an array, but got a string instead.",
  );
  expect(check(compare("ne", ["a"]))).toContain("expected one of a string or a decimal or a boolean, but got an array");
  for (const type of ["gt", "gte", "lt", "lte"] as const) {
    expect(check(compare(type, true))).toContain("expected one of a string or a decimal, but got a boolean");
    expect(check(compare(type, [1]))).toContain("expected one of a string or a decimal, but got an array");
  }
});

test("values that suit pass", () => {
  verifies("vector-stores.filters.values-suit-types");
  const fitting = [
    ...["a", 1.5, false].flatMap((value) => [compare("eq", value), compare("ne", value)]),
    ...[["a", 1], []].flatMap((value) => [compare("in", value), compare("nin", value)]),
    ...["a", 1].flatMap((value) => [compare("gt", value), compare("lte", value)]),
    and([]),
  ];
  expect(fitting.map(check)).toEqual(fitting.map(() => null));
});

test("depth and size of a filter are limited", () => {
  verifies("vector-stores.filters.limits");
  expect(check(nested(10))).toBeNull();
  expect(check(nested(11))).toBe(
    "invalid_value filters: Invalid 'filters': too many levels. Expected a filter with at most 10 levels.",
  );
  expect(check(and(Array.from({ length: 99 }, () => YEAR)))).toBeNull();
  expect(check(and(Array.from({ length: 100 }, () => YEAR)))).toContain("too many conditions");
  expect(check(and(Array.from({ length: 100_000 }, () => YEAR)))).toContain("too many conditions");
  const years = Array.from({ length: 1000 }, (_, year) => year);
  expect(check(compare("in", years))).toBeNull();
  expect(check(and([compare("in", years), YEAR]))).toContain("too many values");
});

test("the schema refuses what is no filter, by its path", () => {
  const search = (filters: unknown) => schemaRefusalOf(validateVectorStoreSearchRequest, { query: "sea", filters });
  expect(search(nested(400))).toBeNull();
  expect(search({ type: "near", key: "a", value: 1 })).toBe(
    "invalid_value filters.type: Invalid value: 'near'. Supported values are: 'eq', 'gt', 'gte', 'in', 'lt', 'lte', 'ne', 'nin', 'and', and 'or'.",
  );
  expect(search({ type: "and", filters: [YEAR, { type: "eq", value: 1 }] })).toBe(
    "missing_required_parameter filters.filters[1].key: Missing required parameter: 'filters.filters[1].key'.",
  );
  expect(search({ type: "and", filters: [{ type: "or", filters: [3] }] })).toContain(
    "invalid_type filters.filters[0].filters[0]",
  );
  expect(search({ type: "eq", key: "a", value: null })).toContain("invalid_type filters.value");
  expect(search({ type: "in", key: "a", value: [true] })).toContain("filters.value[0]");
});
