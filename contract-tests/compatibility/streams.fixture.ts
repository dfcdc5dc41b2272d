import { recordOf } from "../records.fixture.ts";
import { fault, inside, Side } from "../schema-parity/operations.fixture.ts";
import type { Schema } from "../schema-parity/shapes.fixture.ts";
import { type Finding, findUncovered, type Outcome } from "../schema-parity/uncovered.fixture.ts";
import { compareStreamed, type SentVersions } from "./sent.fixture.ts";

type Json = Readonly<Record<string, unknown>>;

export type Faults = readonly (readonly [operation: string, finding: Finding])[];

const NOTHING = { enum: [] };

/** Compares the operations of AsyncAPI documents. Each is one direction of a channel, seen from the server. */
export function compareStreams(before: Schema, now: Schema, versions: SentVersions): Faults {
  const present = recordOf(now.json["operations"]);
  return Object.entries(recordOf(before.json["operations"])).flatMap(([name, operation]): Faults => {
    const twin = present[name];
    if (twin === undefined) return [[name, { path: "", fault: "no longer served" }]];
    const [old, own] = [new Side(recordOf(operation), before.document), new Side(recordOf(twin), now.document)];
    const outcomes = [...compareAddresses(old, own), compareMessages(old, own, versions)];
    return outcomes.flatMap(({ findings }) => findings).map((finding) => [name, finding]);
  });
}

function compareAddresses(old: Side, own: Side): Outcome[] {
  const [before, now] = [old, own].map((side) => side.resolved(side.operation["channel"])["address"]);
  return before === now ? [] : [fault("address", `no longer ${String(before)}`)];
}

function compareMessages(old: Side, own: Side, versions: SentVersions): Outcome {
  const [before, now] = [messagesOf(old), messagesOf(own)];
  return old.operation["action"] === "receive"
    ? inside("request", findUncovered(before, now, true))
    : inside("reply", compareStreamed(before, now, versions));
}

/** One schema for all messages of an operation. An operation that lists none has all messages of its channel. */
function messagesOf(side: Side): Schema {
  const messages =
    side.operation["messages"] ?? Object.values(recordOf(side.resolved(side.operation["channel"])["messages"]));
  const payloads = (Array.isArray(messages) ? messages : []).map((message) => resolveMessage(side, message)["payload"]);
  return { json: payloads.length === 0 ? NOTHING : { oneOf: payloads }, document: side.document };
}

/** Resolves a message through its channel to the one in the components. */
function resolveMessage(side: Side, value: unknown): Json {
  const json = side.resolved(value);
  return "$ref" in json ? resolveMessage(side, json) : json;
}
