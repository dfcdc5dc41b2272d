import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  CONSUMER_SEPARATOR,
  PACTS_DIR,
  type PactInteraction,
  pactFileName,
  parsePact,
  statesOf,
} from "./pact-files.fixture.ts";
import { isRecord, recordOf } from "./records.fixture.ts";

/** What Pact assumes if a member is absent. */
const ASSUMED: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["combine", "AND"],
  ["encoded", false],
  ["pending", false],
]);
/** Members whose values are data of an interaction. Pact assumes nothing inside them. */
const DATA = ["content", "params"];

/** Returns the texts to commit by file name, one for each provider, merged from the pacts in `PACTS_DIR`. */
export function readMergedPacts(): ReadonlyMap<string, string> {
  const texts = readdirSync(PACTS_DIR)
    .filter((name) => name.endsWith(".json"))
    .map((name) => readFileSync(join(PACTS_DIR, name), "utf8"));
  const byProvider = Map.groupBy(texts, (text) => nameOf(parsePact(text)["provider"]));
  return new Map([...byProvider].map(([provider, pacts]) => [pactFileName(provider), mergePacts(pacts)]));
}

/**
 * Returns the text of one pact with the interactions of all consumers of a provider. Equal interactions stand once. An
 * interaction that some consumers lack names those that wrote it in its comments. Interactions are sorted by
 * description and states. Left out are the versions of the tools that wrote the pacts, and values that Pact assumes.
 */
export function mergePacts(texts: readonly string[]): string {
  const pacts = texts.map(parsePact).toSorted((a, b) => compare(nameOf(a["consumer"]), nameOf(b["consumer"])));
  const consumers = pacts.map(({ consumer }) => nameOf(consumer));
  const everyInteraction = pacts.flatMap(({ consumer, interactions }) =>
    interactions.map((interaction) => ({ consumer: nameOf(consumer), interaction })),
  );
  const interactions = [...Map.groupBy(everyInteraction, ({ interaction }) => JSON.stringify(interaction)).values()]
    .map((equal) => mergedInteraction(equal, consumers))
    .toSorted((a, b) => compare(sortKeyOf(a), sortKeyOf(b)));
  const mergedPact = {
    consumer: { name: consumers.join(CONSUMER_SEPARATOR) },
    interactions,
    metadata: { pactSpecification: { version: "4.0" } },
    provider: pacts[0]?.["provider"],
  };
  return `${withShortMatchers(JSON.stringify(mergedPact, null, 2))}\n`;
}

const ONLY_MATCHER = /"matchers": \[\s+\{((?:\s+"\w+": [^\n[\]{}]+)+)\s+\}\s+\]/g;

/** A single matcher stands on one line: most lines of a pact would be brackets otherwise. */
function withShortMatchers(json: string): string {
  return json.replaceAll(ONLY_MATCHER, (_whole, members: string) => {
    return `"matchers": [{ ${members.trim().replaceAll(/\n\s+/g, " ")} }]`;
  });
}

interface ConsumerInteraction {
  readonly consumer: string;
  readonly interaction: PactInteraction;
}

function mergedInteraction(equal: readonly ConsumerInteraction[], consumers: readonly string[]): PactInteraction {
  const writers = [...new Set(equal.map(({ consumer }) => consumer))];
  const interaction = recordOf(withoutAssumed(equal[0]?.interaction));
  if (writers.length === consumers.length) return interaction;
  return { comments: { ...recordOf(interaction["comments"]), consumers: writers }, ...interaction };
}

/** Leaves out members whose value Pact assumes. */
function withoutAssumed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAssumed);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, inner]) => !ASSUMED.has(name) || ASSUMED.get(name) !== inner)
      .map(([name, inner]) => [name, DATA.includes(name) ? inner : withoutAssumed(inner)]),
  );
}

function sortKeyOf(interaction: PactInteraction): string {
  return [interaction["description"], ...statesOf(interaction)].join(" ");
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, "en");
}

function nameOf(party: unknown): string {
  return String(recordOf(party)["name"]);
}
