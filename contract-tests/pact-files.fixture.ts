import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isRecord, recordOf } from "./records.fixture.ts";

/** Consumer tests write pacts here on each run, one for each consumer and provider. */
export const PACTS_DIR = fileURLToPath(new URL("../build/pacts", import.meta.url));
/** The committed pacts, against which providers are verified, one for each provider. */
export const COMMITTED_DIR = fileURLToPath(new URL("pacts", import.meta.url));
/** Stands between the consumers' names in a committed pact. */
export const CONSUMER_SEPARATOR = ", ";

/** A consumer and a provider. */
export interface Parties {
  readonly consumer: string;
  readonly provider: string;
}

/** Path of the committed pact with a provider. */
export function pactFile(provider: string): string {
  return `${COMMITTED_DIR}/${pactFileName(provider)}`;
}

export function pactFileName(provider: string): string {
  return `${provider}.json`;
}

/** An interaction as it is stored in a pact file. */
export type PactInteraction = Readonly<Record<string, unknown>>;

export type Pact = Readonly<Record<string, unknown>> & { readonly interactions: readonly PactInteraction[] };

export interface PactMessage {
  /** Unique within the pact. */
  readonly key: string;
  readonly description: string;
  readonly state: string;
  /** The message of the consumer test. Verification compares only its shape. */
  readonly example: unknown;
  /** The consumers that wrote the message, or null if all did. */
  readonly writers: readonly string[] | null;
}

export interface HttpInteraction {
  /** Unique within the pact. */
  readonly key: string;
  readonly description: string;
  readonly states: readonly string[];
  /** The consumers that wrote the interaction, or null if all did. */
  readonly writers: readonly string[] | null;
  readonly content: PactInteraction;
}

export function readPactMessages(file: string): PactMessage[] {
  return readInteractions(file).map(messageOf);
}

/** Returns the text of a pact file with only the interaction of this key. */
export function pickInteraction(file: string, key: string): string {
  const interactions = readInteractions(file).filter((interaction) => keyOf(interaction) === key);
  return JSON.stringify({ ...readPact(file), interactions });
}

/** Returns an empty list if the file does not exist. */
export function readHttpInteractions(file: string): HttpInteraction[] {
  if (!existsSync(file)) return [];
  return readInteractions(file)
    .filter(({ type }) => type === "Synchronous/HTTP")
    .map((content) => ({
      key: keyOf(content),
      description: String(content["description"]),
      states: statesOf(content),
      writers: writersOf(content),
      content,
    }));
}

/**
 * Returns the text of a pact. Descriptions become the keys, because two interactions may have the same description.
 */
export function pactOf(consumer: string, interactions: readonly HttpInteraction[]): string {
  return JSON.stringify({
    consumer: { name: consumer },
    provider: { name: "provider" },
    interactions: interactions.map(({ key, content }) => ({ ...content, description: key })),
    metadata: { pactSpecification: { version: "4.0" } },
  });
}

/** Returns the interactions that a consumer writes. Throws if it writes none. */
export function readInteractionsOf(parties: Parties): readonly PactInteraction[] {
  const file = pactFile(parties.provider);
  const consumers = String(recordOf(readPact(file)["consumer"])["name"]).split(CONSUMER_SEPARATOR);
  if (!consumers.includes(parties.consumer)) throw new Error(`${parties.consumer} wrote nothing of ${file}.`);
  return readInteractions(file).filter((interaction) => writersOf(interaction)?.includes(parties.consumer) ?? true);
}

/** Names the writers of an interaction for its title, so that interactions of the same name have different titles. */
export function suffixOf({ writers }: Pick<HttpInteraction, "writers">): string {
  return writers === null ? "" : `, for ${writers.join(" and ")}`;
}

/** Names of an interaction's states. */
export function statesOf({ providerStates }: PactInteraction): string[] {
  if (!Array.isArray(providerStates)) return [];
  return providerStates.map((state) => (isRecord(state) ? String(state["name"]) : ""));
}

function readPact(file: string): Pact {
  return parsePact(readFileSync(file, "utf8"));
}

export function parsePact(text: string): Pact {
  const pact: unknown = JSON.parse(text);
  if (!isRecord(pact)) throw new Error("This is not a pact file.");
  const { interactions } = pact;
  if (!Array.isArray(interactions) || !interactions.every(isRecord)) throw new Error("This pact has no interactions.");
  return { ...pact, interactions };
}

export function readInteractions(file: string): readonly PactInteraction[] {
  return readPact(file).interactions;
}

/** Unique within a pact, because no two of its interactions are equal. */
export function keyOf(interaction: PactInteraction): string {
  return createHash("sha256").update(JSON.stringify(interaction)).digest("hex");
}

function writersOf({ comments }: PactInteraction): string[] | null {
  const { consumers } = recordOf(comments);
  return Array.isArray(consumers) ? consumers.map(String) : null;
}

function messageOf(interaction: PactInteraction): PactMessage {
  const { description, contents } = interaction;
  if (typeof description !== "string") throw new Error("an interaction has no description");
  return {
    key: keyOf(interaction),
    description,
    state: statesOf(interaction)[0] ?? "",
    example: isRecord(contents) ? contents["content"] : undefined,
    writers: writersOf(interaction),
  };
}
