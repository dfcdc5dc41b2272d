import { expect, test } from "vitest";
import type { QueryParameter } from "../contract.ts";
import { sampleFaults } from "../http/sample-interface.fixture.ts";
import { readQuery } from "./read-query.ts";

const one = { array: false, required: false, aliases: [] };
const table: Record<string, QueryParameter> = {
  limit: { ...one, kind: "integer", minimum: 1, maximum: 100 },
  weight: { ...one, kind: "number", maximum: 1 },
  stream: { ...one, kind: "boolean" },
  order: { ...one, kind: "string", enum: ["asc", "desc"], default: "desc" },
  after: { ...one, kind: "string", maxLength: 3, pattern: "^[a-z]*$" },
  include: { kind: "string", array: true, required: false, aliases: ["include[]"], enum: ["a", "b"], maxItems: 2 },
};

test("the members of an object are read from names in brackets", () => {
  const pairs: Record<string, QueryParameter> = { metadata: { ...one, kind: "object" } };
  expect(readQuery(pairs, "metadata[topic]=a&metadata%5Bof%5D=b&metadata=c", sampleFaults)).toEqual({
    metadata: { topic: "a", of: "b" },
  });
  expect(readQuery(pairs, "metadata=c", sampleFaults)).toEqual({});
});

function check(search: string, expected: unknown): void {
  expect(readQuery(table, search, sampleFaults)).toEqual(expected);
}

function checkRefused(search: string, message: string, from: Record<string, QueryParameter> = table): void {
  expect(() => readQuery(from, search, sampleFaults)).toThrow(message);
}

test("each kind of parameter is read from its text", () => {
  check("limit=5&weight=-1e-3&stream=false&order=asc&after=abc", {
    limit: 5,
    weight: -0.001,
    stream: false,
    order: "asc",
    after: "abc",
  });
});

test("defaults are filled in, the last of several values counts, and unknown names are ignored", () => {
  check("limit=1&limit=2&__proto__=x&other=1", { limit: 2, order: "desc" });
});

test("a list may be given by its name, its alias, or both", () => {
  check("include=a&include[]=b", { include: ["a", "b"], order: "desc" });
  check("include%5B%5D=b", { include: ["b"], order: "desc" });
});

test.each([
  ["limit=x", "limit: type"],
  ["limit=", "limit: type"],
  ["limit=1.5", "limit: type"],
  ["limit=99999999999999999999", "limit: type"],
  ["limit=0", "limit: minimum"],
  ["limit=101", "limit: maximum"],
  ["weight=Infinity", "weight: type"],
  ["weight=2", "weight: maximum"],
  ["stream=1", "stream: type"],
  ["order=up", "order: enum"],
  ["after=abcd", "after: maxLength"],
  ["after=A", "after: pattern"],
  ["include=a&include[]=c", "include: enum"],
  ["include=a&include=a&include=a", "include: maxItems"],
])("%s is refused", (search, message) => checkRefused(search, message));

test("a missing required parameter is refused", () => {
  checkRefused("", "q: required", { q: { ...one, kind: "string", required: true } });
});
