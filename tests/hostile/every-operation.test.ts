import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import * as validators from "@antiphon/contracts/responses-api/validators.js";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { notImplementedOperations } from "../../src/servers/handlers/responses-api-handlers.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { formOf, namedFile } from "../kit/upload.ts";
import { verifies } from "../verifies.ts";
import { type ContractOperation, contractOperations } from "./contract-operations.ts";
import { valueOf } from "./schema-arbitrary.ts";

const RUNS = 40;
const MODEL = "antiphon-built-in";
const NOT_IMPLEMENTED = 501;

/** A status of the path, not of an operation. */
const METHOD_NOT_ALLOWED = 405;

const operations = contractOperations();
const notYet: ReadonlySet<string> = new Set(notImplementedOperations());

interface Attempt {
  readonly path: string;
  readonly body: string | null;
}

describe("random requests to an operation", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test("cover the contract, of which only the operations on vector stores are missing", () => {
    expect(operations.length).toBeGreaterThan(30);
    expect([...notYet].filter((id) => !/VectorStore/.test(id))).toEqual([]);
  });

  test.each(operations)("$operationId answers as its contract says, and the process survives", async (operation) => {
    verifies("transport.faults.no-request-ends-the-process");
    const ids = await makeThings(server);
    await fc.assert(
      fc.asyncProperty(attempts(operation, ids), (attempt) => check(server, operation, attempt)),
      { numRuns: RUNS },
    );
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});

/** One thing of each kind that has an id. */
async function makeThings(server: TestServer): Promise<readonly string[]> {
  const idOf = async (reply: Promise<Response>): Promise<string> => {
    const body: unknown = await (await reply).json();
    return isRecord(body) ? String(body["id"]) : "";
  };
  const file = formOf({ purpose: "user_data", file: namedFile("hello", "hello.txt") });
  const made = await Promise.all([
    idOf(server.post("/v1/responses", { model: MODEL, input: "say hello" })),
    idOf(server.post("/v1/responses", { model: MODEL, input: "say hello", background: true, stream: false })),
    idOf(server.post("/v1/conversations", { items: [{ role: "user", content: "Hi" }] })),
    idOf(server.fetch("/v1/files", { method: "POST", body: file })),
    idOf(server.post("/v1/containers", { name: "work" })),
  ]);
  return [...made, MODEL];
}

/** Known, unknown and impossible ids, with valid and invalid queries and bodies. */
function attempts({ path, query, body }: ContractOperation, ids: readonly string[]): fc.Arbitrary<Attempt> {
  const id = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: fc.constantFrom("resp_unknown", "conv_00", "%2e%2e%2f", "💥", "a".repeat(300)) },
    { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 20, unit: "binary-ascii" }).filter(isSegment) },
  );
  const paths = fc
    .array(id, { minLength: 3, maxLength: 3 })
    .map((chosen) => path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(chosen.shift() ?? "x")));
  const queries = fc.record(Object.fromEntries(query.map(({ name, schema }) => [name, queryValue(schema)])));
  const bodies = body === null ? fc.constant(null) : bodiesFor(body, ids);
  return fc
    .tuple(paths, queries, bodies)
    .map(([where, asked, sent]) => ({ path: where + queryText(asked), body: sent }));
}

function queryValue(schema: ContractOperation["query"][number]["schema"]): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: valueOf(schema) },
    { weight: 1, arbitrary: fc.string({ maxLength: 10 }) },
  );
}

function queryText(asked: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined) for (const one of Array.isArray(value) ? value : [value]) query.append(name, textOf(one));
  }
  return query.size === 0 ? "" : `?${query}`;
}

/** A random object may have a member `toString` that is no function. */
function textOf(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** Valid bodies, the same with existing ids, any JSON, and texts that are not JSON. */
function bodiesFor(schema: NonNullable<ContractOperation["body"]>, ids: readonly string[]): fc.Arbitrary<string> {
  const fitting = valueOf(schema).map((value) =>
    isRecord(value) && "model" in value ? { ...value, model: MODEL } : value,
  );
  const naming = fc
    .tuple(fitting, fc.constantFrom("previous_response_id", "conversation"), fc.constantFrom(...ids))
    .map(([value, name, id]) => (isRecord(value) && name in value ? { ...value, [name]: id } : value));
  return fc.oneof(
    { weight: 5, arbitrary: naming.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
  );
}

/** The reply must be declared by the contract for this operation, and must not be an internal fault. */
/** Clients leave out `.` and `..`, which makes another path. */
function isSegment(text: string): boolean {
  return text !== "." && text !== "..";
}

async function check(server: TestServer, operation: ContractOperation, { path, body }: Attempt): Promise<void> {
  const reply = await server.fetch(path, {
    method: operation.method,
    body,
    headers: body === null ? {} : { "content-type": "application/json" },
  });
  const text = await reply.text();
  const told = `${operation.method} ${path} ${body ?? ""} → ${reply.status} ${text.slice(0, 500)}`;
  if (notYet.has(operation.operationId) && reply.status === NOT_IMPLEMENTED) return;
  expect(reply.status, told).toBeLessThan(500);
  expect([...operation.replies.keys(), METHOD_NOT_ALLOWED], told).toContain(reply.status);
  if (reply.headers.get("content-type")?.startsWith("application/json") !== true) return;
  const name = reply.status === 200 ? operation.replies.get(200) : "ErrorBody";
  if (name != null) expect(isValid(name, JSON.parse(text)), told).toBe(true);
}

function isValid(name: string, value: unknown): boolean {
  const validate: unknown = new Map(Object.entries(validators)).get(`validate${name}`);
  assert(typeof validate === "function", `there is a validator of ${name}`);
  return Boolean(validate(value));
}
