import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { fieldLedger } from "@antiphon/contracts/responses-api/field-ledger.ts";
import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { isRecord } from "../records.fixture.ts";
import { CHAT_EXCEPTIONS } from "./chat-exceptions.fixture.ts";
import { EMBEDDING_EXCEPTIONS, EXCEPTIONS, exceptionFor, ORGANIZATION_EXCEPTIONS } from "./exceptions.fixture.ts";
import { findBreakingChanges, OASDIFF_EXCEPTIONS } from "./oasdiff.fixture.ts";
import { compareOperations, type OperationScore, operationsOf } from "./operations.fixture.ts";
import { type Member, resolve, shapesOf } from "./shapes.fixture.ts";
import { findUncovered } from "./uncovered.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

/** Paths of the reference's published OpenAPI documents: that of responses, then those of other doors. */
const [referenceFile, ...furtherFiles] = (process.env["REFERENCE_OPENAPI"] ?? "")
  .split(delimiter)
  .filter((path) => path !== "");
const OURS = new URL("../../generated/responses-api/openapi.json", import.meta.url);
const ours = readDocument(OURS);
const scores = referenceFile === undefined ? [] : compareOperations(readDocument(referenceFile), ours, "/v1");
const served = scores.filter(({ service }) => service === "served");

/** Our server must accept every request that the reference accepts, and send only what the reference declares. */
describe.skipIf(referenceFile === undefined)("our contract compared with the reference's (REFERENCE_OPENAPI)", () => {
  afterAll(() => console.log(reportOf(scores)));

  test.each(served)("$operation: accepts what the reference accepts and sends nothing else", (score) => {
    verifies("contract.parity.superset-of-reference");
    expect(unexcused(score)).toEqual([]);
  });

  test("the operations on responses, conversations, files and models are served", () => {
    expect(served.length).toBeGreaterThanOrEqual(22);
  });

  test("the comparison notices every removed member of a create request or its reply", () => {
    const reference = readDocument(referenceFile ?? "");
    const create = { ...reference, paths: { "/responses": { post: operationAt(reference, "/responses", "post") } } };
    const [asked, answered] = ["CreateResponse", "Response"].map((name) => membersOf(reference, name));
    const misses = (name: string, member: string): boolean => {
      const [score] = compareOperations(create, withoutMember(ours, name, member), "/v1");
      return score !== undefined && unexcused(score).length > 0;
    };
    expect(asked?.length).toBeGreaterThan(20);
    expect(asked?.filter(([member]) => !misses("CreateResponseRequest", member))).toEqual([]);
    const always = answered?.filter(([, { required }]) => required) ?? [];
    expect(always.length).toBeGreaterThan(10);
    expect(always.filter(([member]) => !misses("Response", member))).toEqual([]);
  });

  test("each exception is needed", () => {
    const used = new Set(
      served.flatMap((score) => findingsOf(score).map((finding) => exceptionFor(score.operation, finding))),
    );
    expect(EXCEPTIONS.flatMap(({ places }) => places).filter((place) => !used.has(place))).toEqual([]);
  });
});

const CHAT = readDocument(new URL("../../generated/chat-completions/openapi.json", import.meta.url));
const CHAT_GROUPS = [...EXCEPTIONS, ...CHAT_EXCEPTIONS];
const chatScores = furtherFiles
  .flatMap((file) => compareOperations(readDocument(file), CHAT, "/v1"))
  .filter(({ service }) => service === "served");

describe.skipIf(furtherFiles.length === 0)(
  "our chat completions compared with the reference's (REFERENCE_OPENAPI, a second document)",
  () => {
    test.each(chatScores)("$operation: accepts what the reference accepts and sends nothing else", (score) => {
      verifies("chat.contract.superset-of-reference");
      const left = findingsOf(score).filter(
        (finding) => exceptionFor(score.operation, finding, CHAT_GROUPS) === undefined,
      );
      expect(left).toEqual([]);
    });

    test("all operations of the door are compared", () => {
      verifies("chat.contract.superset-of-reference");
      const own = operationsOf(CHAT).map(({ name }) => name.replace(" /v1", " "));
      expect(chatScores.map(({ operation }) => operation).toSorted()).toEqual(own.toSorted());
    });

    test("each exception is needed", () => {
      const used = new Set(
        chatScores.flatMap((score) =>
          findingsOf(score).map((finding) => exceptionFor(score.operation, finding, CHAT_EXCEPTIONS)),
        ),
      );
      expect(CHAT_EXCEPTIONS.flatMap(({ places }) => places).filter((place) => !used.has(place))).toEqual([]);
    });
  },
);

const FURTHER_GROUPS = [...EXCEPTIONS, ...EMBEDDING_EXCEPTIONS];
const embeddingScores = furtherFiles
  .flatMap((file) => compareOperations(readDocument(file), ours, "/v1"))
  .filter(({ operation }) => operation === "POST /embeddings");

describe.skipIf(furtherFiles.length === 0)(
  "our embeddings compared with the reference's (REFERENCE_OPENAPI, a second document)",
  () => {
    test("they accept what the reference accepts and send nothing else, but for exceptions that are needed", () => {
      verifies("models.embeddings.shapes");
      const findings = embeddingScores.flatMap(findingsOf);
      expect(findings.filter((finding) => exceptionFor("", finding, FURTHER_GROUPS) === undefined)).toEqual([]);
      const used = new Set(findings.map((finding) => exceptionFor("", finding, EMBEDDING_EXCEPTIONS)));
      expect(EMBEDDING_EXCEPTIONS.flatMap(({ places }) => places).filter((place) => !used.has(place))).toEqual([]);
    });
  },
);

const ORGANIZATION_GROUPS = [...EXCEPTIONS, ...ORGANIZATION_EXCEPTIONS];
const organizationScores = furtherFiles
  .flatMap((file) => compareOperations(readDocument(file), ours, "/v1"))
  .filter(({ operation, service }) => service === "served" && operation.includes(" /organization/"));

describe.skipIf(furtherFiles.length === 0)(
  "our usage, costs and keys compared with the reference's (REFERENCE_OPENAPI, a second document)",
  () => {
    test("they accept what the reference accepts and send nothing else, but for exceptions that are needed", () => {
      verifies("usage.pages.official-client");
      expect(organizationScores).toHaveLength(18);
      const findings = organizationScores.flatMap(findingsOf);
      expect(findings.filter((finding) => exceptionFor("", finding, ORGANIZATION_GROUPS) === undefined)).toEqual([]);
      const used = new Set(findings.map((finding) => exceptionFor("", finding, ORGANIZATION_EXCEPTIONS)));
      expect(ORGANIZATION_EXCEPTIONS.flatMap(({ places }) => places).filter((place) => !used.has(place))).toEqual([]);
    });
  },
);

/** Path of oasdiff, for an optional second comparison: `go install github.com/oasdiff/oasdiff@v1.19.0`. */
const oasdiff = referenceFile === undefined ? undefined : process.env["OASDIFF"];

describe.skipIf(oasdiff === undefined)("our contract as oasdiff sees it (OASDIFF, REFERENCE_OPENAPI)", () => {
  test("breaks nothing for the reference's clients", () => {
    verifies("contract.parity.superset-of-reference");
    const changes = findBreakingChanges(oasdiff ?? "", {
      reference: referenceFile ?? "",
      ours: fileURLToPath(OURS),
      prefix: "/v1",
      operations: served.map(({ operation }) => operation),
    });
    expect(changes.toSorted()).toEqual(Object.keys(OASDIFF_EXCEPTIONS).toSorted());
  });
});

describe("a schema compared with another", () => {
  const named = { Cat: object({ type: { const: "cat" }, lives: { type: "integer" } }, ["type"]) };
  const dog = object({ type: { const: "dog" }, name: { type: "string" } }, ["type", "name"]);
  const cat = { $ref: "#/components/schemas/Cat" };
  const tree = { Tree: object({ leaves: { type: "array", items: { $ref: "#/components/schemas/Tree" } } }, []) };

  test.each<[string, object, object, string[]]>([
    ["is the same", dog, dog, []],
    ["lists a value more", { enum: ["a", "b"] }, { enum: ["a"] }, [': no "b"']],
    ["takes any text", { type: "string" }, { enum: ["a", "b"] }, [": only a, b"]],
    ["can be null", { type: ["string", "null"] }, { type: "string" }, [": no null"]],
    ["can be null by a union", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: ["string", "null"] }, []],
    ["has a member more", object({ a: {}, b: {} }, []), object({ a: {} }, []), [".b: no such member"]],
    ["has a member more, marked as ours", object({ a: { "x-extension": true } }, []), object({}, []), []],
    ["leaves out a member", object({ a: {} }, []), object({ a: {} }, ["a"]), [".a: may be left out"]],
    ["has a longer text", { type: "string" }, { type: "string", maxLength: 3 }, [": maxLength 3"]],
    ["has a shorter text", { type: "string", maxLength: 2 }, { type: "string", maxLength: 3 }, []],
    ["has other elements", list({ type: "string" }), list({ type: "number" }), ["[]: no string"]],
    ["has a branch more", { oneOf: [cat, dog] }, { oneOf: [dog] }, ["Cat: no such object"]],
    ["has fewer branches", dog, { oneOf: [cat, dog] }, []],
    [
      "differs inside a branch",
      { oneOf: [cat, { type: "null" }] },
      { oneOf: [dog, lazyCat(), { type: "null" }] },
      ["Cat.lives: no such member"],
    ],
    [
      "puts members together",
      { allOf: [object({ a: {} }, ["a"]), object({ b: {} }, [])] },
      object({ a: {}, b: {} }, ["a"]),
      [],
    ],
    [
      "leaves out what one part requires of another",
      { allOf: [object({ a: {} }, []), { type: "object", properties: {} }] },
      { allOf: [object({ a: {} }, []), { type: "object", properties: {}, required: ["a"] }] },
      [".a: may be left out"],
    ],
    [
      "is a map of more",
      { type: "object", additionalProperties: true },
      object({ a: {} }, []),
      [".*: no further members"],
    ],
    ["contains itself", { $ref: "#/components/schemas/Tree" }, { $ref: "#/components/schemas/Tree" }, []],
  ])("%s", (_, narrow, wide, expected) => {
    const document = { components: { schemas: { ...named, ...tree } } };
    const { findings } = findUncovered({ json: { ...narrow }, document }, { json: { ...wide }, document }, true);
    expect(findings.map(({ path, fault }) => `${path}: ${fault}`)).toEqual(expected);
  });

  test("an operation reports what it refuses, sends and requires", () => {
    const theirs = apiOf({ kind: { enum: ["a", "b"] } }, { id: { type: "string" } }, []);
    const own = apiOf({ kind: { enum: ["a"] } }, { id: { type: ["string", "null"] }, extra: {} }, [
      { name: "page", in: "query", required: true, schema: {} },
    ]);
    const [score] = compareOperations(theirs, own, "");
    expect(score?.service).toBe("served");
    expect(score === undefined ? [] : findingsOf(score)).toEqual([
      "query page: must be there",
      'request .kind: no "b"',
      "reply .id: no null",
      "reply .extra: no such member",
    ]);
  });
});

function findingsOf({ findings }: OperationScore): string[] {
  return findings.map(({ path, fault }) => `${path}: ${fault}`);
}

function unexcused(score: OperationScore): string[] {
  return findingsOf(score).filter((finding) => exceptionFor(score.operation, finding) === undefined);
}

/**
 * Prints for each operation the share of schemas that agree, with and without the exceptions, then what the code still
 * refuses.
 */
function reportOf(all: readonly OperationScore[]): string {
  const lines = all.map((score) => {
    if (score.service !== "served") return `  ${"-".padStart(6)}  ${score.operation}: ${score.service}`;
    const gate = percentOf(score.places, unexcused(score).length);
    const strict = percentOf(score.places, score.findings.length);
    return `  ${gate}  ${score.operation}: ${score.places} schemas compared, ${score.findings.length} differences excepted, ${strict.trim()} to the letter`;
  });
  const refused = Object.entries(fieldLedger).filter(([, entry]) =>
    [entry.server, entry["chat-completions"], entry["built-in"]].every((word) => (word ?? "refused") === "refused"),
  );
  return [
    "Parity of schemas with the reference",
    ...lines,
    `  Accepted by the schemas and refused with a 400 until they are built: ${refused.map(([name]) => name).join(", ")}`,
  ].join("\n");
}

function percentOf(places: number, faults: number): string {
  return `${(100 * (1 - faults / Math.max(places, faults, 1))).toFixed(1)}%`.padStart(6);
}

function operationAt(document: Json, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((json, step) => (isRecord(json) ? json[step] : undefined), document["paths"]);
}

function membersOf(document: Json, name: string): [string, Member][] {
  const shapes = shapesOf({ json: { $ref: `#/components/schemas/${name}` }, document }, true);
  return shapes.flatMap((shape) => (shape.kind === "object" ? [...shape.members] : []));
}

/** Returns a copy without one member of one schema. */
function withoutMember(document: Json, name: string, member: string): Json {
  const copy = structuredClone(document);
  const { json } = resolve(copy, `#/components/schemas/${name}`);
  const { properties, required } = json;
  if (!isRecord(properties) || !Array.isArray(required ?? [])) throw new Error(`${name} is not an object schema`);
  Reflect.deleteProperty(properties, member);
  if (Array.isArray(required)) required.splice(0, Infinity, ...required.filter((other) => other !== member));
  return copy;
}

function readDocument(file: string | URL): Json {
  const document: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isRecord(document)) throw new Error(`${file} is not an OpenAPI document`);
  return document;
}

function object(properties: object, required: readonly string[]): object {
  return { type: "object", additionalProperties: false, properties, required };
}

function list(items: object): object {
  return { type: "array", items };
}

function lazyCat(): object {
  return object({ type: { const: "cat" } }, ["type"]);
}

function apiOf(request: object, reply: object, parameters: readonly object[]): Record<string, unknown> {
  const json = (properties: object): object => ({
    content: { "application/json": { schema: object(properties, []) } },
  });
  return { paths: { "/a": { post: { parameters, requestBody: json(request), responses: { 200: json(reply) } } } } };
}
