import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { isRecord, recordOf } from "../records.fixture.ts";
import { compareBodies, compareParameters, operationsOf, Side } from "./operations.fixture.ts";
import { UNPUBLISHED, UNPUBLISHED_OPERATIONS } from "./unpublished.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

/** The reference's document of responses, the first of the list. */
const referenceFile = process.env["REFERENCE_OPENAPI"]?.split(delimiter)[0];
const MARK = "x-extension";
/** Matches findings about something that one of the contracts lacks entirely. */
const MISSING = /^(.+): no (?:such (?:object|member|parameter)|".+")$/;

/** The contract must mark everything that a client cannot use at the reference. */
describe.skipIf(referenceFile === undefined)("extensions (REFERENCE_OPENAPI)", () => {
  const reference = referenceFile === undefined ? {} : readDocument(referenceFile);
  const ours = readDocument(new URL("../../generated/responses-api/openapi.json", import.meta.url));

  test("are marked: everything unmarked in a request exists at the reference", () => {
    verifies("extensions.contract.all-marked");
    const places = refusedByReference(ours, reference).flatMap((finding) => MISSING.exec(finding)?.[1] ?? []);
    const listed = UNPUBLISHED.flatMap((group) => group.places);
    expect([...new Set(places)].toSorted()).toEqual(listed.toSorted());
  });

  test("are operations that the reference does not have", () => {
    verifies("extensions.contract.all-marked");
    const theirs = new Set(operationsOf(reference).map(({ name }) => name.replace(" ", " /v1")));
    const unknown = operationsOf(ours).filter(({ name }) => !theirs.has(name));
    const withoutMark = unknown.filter(({ operation }) => operation[MARK] !== true).map(({ name }) => name);
    expect(withoutMark.toSorted()).toEqual(UNPUBLISHED_OPERATIONS.toSorted());
    const marked = operationsOf(ours).filter(({ operation }) => operation[MARK] === true);
    const added = unknown.filter(({ name }) => !UNPUBLISHED_OPERATIONS.includes(name));
    expect(marked.map(({ name }) => name)).toEqual(added.map(({ name }) => name));
  });

  test("are all refused by the reference", () => {
    verifies("extensions.contract.all-marked");
    const unmarkedOnes = new Set(refusedByReference(ours, reference));
    const marked = refusedByReference(withoutMarks(ours), reference).filter((finding) => !unmarkedOnes.has(finding));
    expect([...new Set(marked)].toSorted()).toEqual([
      "header Provider-Organization: no such parameter",
      "header Provider-Project: no such parameter",
      "query history: no such parameter",
      "request CreateResponseRequest.conversation: no array",
      "request CreateResponseRequest.instructions: no array",
      "request CreateResponseRequest.interruption: no such member",
      "request CreateResponseRequest.output_audio: no such member",
      "request InputTokensRequest.conversation: no array",
      "request InputTokensRequest.instructions: no array",
      "request LocalShellCallOutputInput.call_id: no such member",
      "request McpListToolsInput.instructions: no such member",
      "request McpToolInput.elicitation: no such member",
      "request ReasoningInput.enable_chain_of_thought: no such member",
      "request StreamOptions.channels: no such member",
      "request StreamOptions.obfuscation: no such member",
      "request ToolResult: no such object",
      "request TopLevelInputAudio: no such object",
      "request TopLevelInputFile: no such object",
      "request TopLevelInputImage: no such object",
      "request TopLevelInputText: no such object",
      "request WebSearchFilters.blocked_domains: no such member",
      "request WebSearchToolInput<web_search>.first_query: no such member",
      "request WebSearchToolInput<web_search_2025_08_26>.first_query: no such member",
      "request WebSearchUrlSource.title: no such member",
    ]);
  });
});

/** Finds unmarked members and values that our operations accept and the reference's do not. */
function refusedByReference(ours: Json, reference: Json): string[] {
  const theirs = new Map(operationsOf(reference).map(({ name, operation }) => [name.replace(" ", " /v1"), operation]));
  return operationsOf(ours).flatMap(({ name, operation }) => {
    const twin = theirs.get(name);
    if (twin === undefined || "501" in recordOf(operation["responses"])) return [];
    const parameters = new Side(operation, ours).parameters().filter((parameter) => parameter[MARK] !== true);
    const [own, their] = [new Side({ ...operation, parameters }, ours), new Side(twin, reference)];
    const outcomes = [...compareParameters(own, their), ...compareBodies(own, their)];
    return outcomes.flatMap(({ findings }) => findings).map(({ path, fault }) => `${path}: ${fault}`);
  });
}

function withoutMarks(json: Json): Json {
  return recordOf(unmarked(json));
}

function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([name]) => name !== MARK);
  return Object.fromEntries(members.map(([name, member]) => [name, unmarked(member)]));
}

function readDocument(file: string | URL): Json {
  return recordOf(JSON.parse(readFileSync(file, "utf8")));
}
