import { recordOf } from "../records.fixture.ts";
import {
  compareBodies,
  compareParameters,
  fault,
  inside,
  operationsOf,
  Side,
} from "../schema-parity/operations.fixture.ts";
import type { Schema } from "../schema-parity/shapes.fixture.ts";
import type { Finding, Outcome } from "../schema-parity/uncovered.fixture.ts";
import { compareSent, compareStreamed, type SentVersions } from "./sent.fixture.ts";
import { openObjects, type Specs } from "./specs.fixture.ts";
import { compareStreams, type Faults } from "./streams.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

export interface BreakingChange {
  /** Interface, place and fault. Names the operation if the place is in no named schema. */
  readonly entry: string;
  readonly operations: readonly string[];
}

const STREAMED: ReadonlySet<string> = new Set(["text/event-stream", "application/x-ndjson"]);

/** Finds every change from `before` to `now` that can break a client of `before`. */
export function findBreakingChanges(before: Specs, now: Specs): BreakingChange[] {
  const versions: SentVersions = { openBefore: openObjects(before.document), openNow: openObjects(now.document) };
  const operations = new Map<string, Set<string>>();
  for (const { interfaceName, file, json } of before.descriptions) {
    const twin = now.descriptions.find((description) => description.file === file)?.json ?? {};
    const compare = "openapi" in json ? compareInterfaces : compareStreams;
    const faults = compare({ json, document: before.document }, { json: twin, document: now.document }, versions);
    for (const [operation, finding] of faults) {
      const entry = entryOf(interfaceName, operation, finding);
      operations.set(entry, (operations.get(entry) ?? new Set()).add(operation));
    }
  }
  return [...operations].map(([entry, names]) => ({ entry, operations: [...names] }));
}

function entryOf(interfaceName: string, operation: string, { path, fault: words, isNamed }: Finding): string {
  const place = isNamed === true && /^(request|reply) /.test(path) ? path : `${operation} ${path}`;
  return `${interfaceName} ${place.trim()}: ${words}`;
}

function compareInterfaces(before: Schema, now: Schema, versions: SentVersions): Faults {
  const present = operationsOf(now.json);
  return operationsOf(before.json).flatMap(({ name, operation }): Faults => {
    const twin = present.find((candidate) => candidate.name === name);
    if (twin === undefined) return [[name, { path: "", fault: "no longer served" }]];
    const [old, own] = [new Side(operation, before.document), new Side(twin.operation, now.document)];
    const isNewlyGuarded = !needsKey(before.json, operation) && needsKey(now.json, twin.operation);
    const outcomes = [
      ...(isNewlyGuarded ? [fault("request", "needs a key")] : []),
      ...compareParameters(old, own),
      ...compareBodies(old, own),
      ...compareReplies(old, own, versions),
    ];
    return outcomes.flatMap(({ findings }) => findings).map((finding) => [name, finding]);
  });
}

function needsKey(description: Json, operation: Json): boolean {
  const ways = operation["security"] ?? description["security"];
  return Array.isArray(ways) && ways.length > 0 && ways.every((way) => Object.keys(recordOf(way)).length > 0);
}

/** A new error status is allowed, because clients recognise errors by the first digit; a new success status is not. */
function compareReplies(old: Side, own: Side, versions: SentVersions): Outcome[] {
  const [before, now] = [recordOf(old.operation["responses"]), recordOf(own.operation["responses"])];
  const added = Object.keys(now)
    .filter((status) => !(status in before) && !/^[45]/.test(status))
    .map((status) => fault(`reply ${status}`, "not declared before"));
  const compared = Object.entries(before).flatMap(([status, reply]) => {
    const twin = now[status];
    if (twin === undefined) return [fault(`reply ${status}`, "no longer given")];
    const declared = old.contents(reply);
    const given = own.contents(twin);
    return [
      ...compareHeaders(status, old.resolved(reply), own.resolved(twin)),
      ...[...given.keys()]
        .filter((type) => !declared.has(type))
        .map((type) => fault(`reply ${status} ${type}`, "not declared before")),
      ...[...declared].map(([type, schema]) => {
        const present = given.get(type);
        if (present === undefined) return fault(`reply ${status} ${type}`, "no longer given");
        return inside("reply", (STREAMED.has(type) ? compareStreamed : compareSent)(schema, present, versions));
      }),
    ];
  });
  return [...added, ...compared];
}

function compareHeaders(status: string, before: Json, now: Json): Outcome[] {
  const present = new Set(Object.keys(recordOf(now["headers"])).map((name) => name.toLowerCase()));
  return Object.keys(recordOf(before["headers"]))
    .filter((name) => !present.has(name.toLowerCase()))
    .map((name) => fault(`reply ${status} header ${name}`, "no longer sent"));
}
