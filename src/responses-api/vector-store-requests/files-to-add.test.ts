import {
  validateCreateVectorStoreFileRequest,
  validateCreateVectorStoreRequest,
} from "@antiphon/contracts/responses-api/validators.js";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { refusalOf, schemaRefusalOf } from "../errors/validation/refusal.fixture.ts";
import { filesOfBatch, filesOfNewStore, fileToAdd, storeToCreate } from "./files-to-add.ts";

const AUTO = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };
const cut = (size: number, overlap: number) =>
  ({ type: "static", static: { max_chunk_size_tokens: size, chunk_overlap_tokens: overlap } }) as const;

test("a store without members has an empty name, no pairs and no end", () => {
  expect(storeToCreate({})).toEqual({ name: "", description: null, metadata: {}, expiresAfterDays: null });
  expect(
    storeToCreate({
      name: "Books",
      description: "All of them",
      metadata: { shelf: "3" },
      expires_after: { anchor: "last_active_at", days: 7 },
    }),
  ).toEqual({ name: "Books", description: "All of them", metadata: { shelf: "3" }, expiresAfterDays: 7 });
});

test("files of a new store are cut alike, and each is taken once", () => {
  expect(filesOfNewStore({})).toEqual([]);
  expect(filesOfNewStore({ file_ids: ["file-a", "file-b", "file-a"], chunking_strategy: cut(200, 100) })).toEqual(
    ["file-a", "file-b"].map((fileId) => ({ fileId, attributes: {}, chunking: cut(200, 100).static })),
  );
});

test("a file without settings is cut as auto says, and has no attributes", () => {
  const plain = { fileId: "file-a", attributes: {}, chunking: AUTO };
  expect(fileToAdd({ file_id: "file-a" })).toEqual(plain);
  expect(fileToAdd({ file_id: "file-a", attributes: null, chunking_strategy: { type: "auto" } })).toEqual(plain);
});

test("pieces overlap by half at most, and have from 100 to 4096 tokens", () => {
  verifies("vector-stores.chunking.overlap-at-most-half");
  expect(fileToAdd({ file_id: "file-a", chunking_strategy: cut(101, 50) }).chunking).toEqual(cut(101, 50).static);
  expect(refusalOf(() => fileToAdd({ file_id: "file-a", chunking_strategy: cut(101, 51) }))).toBe(
    "integer_above_max_value chunking_strategy.static.chunk_overlap_tokens: Invalid 'chunking_strategy.static.chunk_overlap_tokens': integer above maximum value. Expected a value <= 50, but got 51 instead.",
  );
  expect(refusalOf(() => filesOfNewStore({ chunking_strategy: cut(100, 60) }))).toContain("<= 50, but got 60");
  const check = (chunking_strategy: object) =>
    schemaRefusalOf(validateCreateVectorStoreRequest, { file_ids: ["file-a"], chunking_strategy });
  expect(check(cut(99, 0))).toContain("integer_below_min_value chunking_strategy.static.max_chunk_size_tokens");
  expect(check(cut(4097, 0))).toContain("integer_above_max_value chunking_strategy.static.max_chunk_size_tokens");
  expect(check(cut(800, -1))).toContain("integer_below_min_value chunking_strategy.static.chunk_overlap_tokens");
  expect(check({ type: "other" })).toContain("Supported values are: 'auto' and 'static'.");
  expect(check({ type: "static" })).toContain("Missing required parameter: 'chunking_strategy.static'.");
});

test("a batch names files with common settings, or with their own", () => {
  verifies("vector-stores.batches.file-ids-or-files");
  const shared = { attributes: { year: 1900 }, chunking_strategy: cut(300, 0) };
  expect(filesOfBatch({ file_ids: ["file-a", "file-b", "file-a"], ...shared })).toEqual(
    ["file-a", "file-b"].map((fileId) => ({ fileId, attributes: { year: 1900 }, chunking: cut(300, 0).static })),
  );
  const files = [
    { file_id: "file-a", attributes: { n: 1 } },
    { file_id: "file-b", chunking_strategy: cut(100, 50) },
    { file_id: "file-a", attributes: { n: 2 } },
  ];
  expect(filesOfBatch({ files, ...shared })).toEqual([
    { fileId: "file-a", attributes: { n: 2 }, chunking: AUTO },
    { fileId: "file-b", attributes: {}, chunking: cut(100, 50).static },
  ]);
});

test("a batch with both lists, or none, is refused, and an entry by its path", () => {
  verifies("vector-stores.batches.file-ids-or-files");
  expect(refusalOf(() => filesOfBatch({ file_ids: ["file-a"], files: [{ file_id: "file-a" }] }))).toContain(
    "mutually_exclusive_parameters null: Mutually exclusive parameters",
  );
  expect(refusalOf(() => filesOfBatch({}))).toBe(
    "missing_required_parameter file_ids: Missing required parameter: 'file_ids'.",
  );
  const files = [{ file_id: "file-a" }, { file_id: "file-b", chunking_strategy: cut(100, 51) }];
  expect(refusalOf(() => filesOfBatch({ files }))).toContain(
    "integer_above_max_value files[1].chunking_strategy.static.chunk_overlap_tokens",
  );
});

test("attributes are few, short, and of plain types", () => {
  verifies("vector-stores.attributes.limits");
  const check = (attributes: unknown) =>
    schemaRefusalOf(validateCreateVectorStoreFileRequest, { file_id: "file-a", attributes });
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
  expect(check({ ["k".repeat(64)]: "v".repeat(512), n: -1.5, is: true, "": "" })).toBeNull();
  expect(check(pairs(16))).toBeNull();
  expect(check(pairs(17))).toBe(
    "object_above_max_properties attributes: Invalid 'attributes': too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.",
  );
  expect(check({ a: "v".repeat(513) })).toContain("string_above_max_length attributes.a");
  expect(check({ ["k".repeat(65)]: 1 })).toContain("string_above_max_length attributes");
  expect(check({ a: null })).toContain("invalid_type attributes.a");
  expect(check({ a: [1] })).toContain("invalid_type attributes.a");
  expect(check({ a: { b: 1 } })).toContain("invalid_type attributes.a");
  expect(check({ a: Infinity })).toContain("invalid_type attributes.a");
});
