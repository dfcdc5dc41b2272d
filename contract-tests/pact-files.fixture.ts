import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isRecord } from "./records.fixture.ts";

/** Consumer tests write pacts here on each run. */
export const PACTS_DIR = fileURLToPath(new URL("../build/pacts", import.meta.url));
/** The committed pacts, against which providers are verified. */
export const COMMITTED_DIR = fileURLToPath(new URL("pacts", import.meta.url));

/** A consumer and a provider. Each pair has one pact file. */
export interface Parties {
  readonly consumer: string;
  readonly provider: string;
}

/** Path of the committed pact. */
export function pactFile({ consumer, provider }: Parties): string {
  return `${COMMITTED_DIR}/${consumer}-${provider}.json`;
}

export interface PactMessage {
  readonly description: string;
  readonly state: string;
  /** The message of the consumer test. Verification compares only its shape. */
  readonly example: unknown;
}

export interface HttpInteraction {
  /** Equal for interactions with the same states and request, whoever the consumer is. */
  readonly key: string;
  readonly description: string;
  readonly states: readonly string[];
  readonly content: Readonly<Record<string, unknown>>;
}

export function readPactMessages(file: string): PactMessage[] {
  return readInteractions(file).map(messageOf);
}

/** Returns the text of a pact file with only the messages that `keep` accepts. */
export function pickMessages(file: string, keep: (message: PactMessage) => boolean): string {
  const interactions = readInteractions(file).filter((interaction) => keep(messageOf(interaction)));
  return JSON.stringify({ ...readPact(file), interactions });
}

/** Returns an empty list if the file does not exist. */
export function readHttpInteractions(file: string): HttpInteraction[] {
  if (!existsSync(file)) return [];
  return readInteractions(file)
    .filter(isRecord)
    .filter(({ type }) => type === "Synchronous/HTTP")
    .map((content) => ({
      key: createHash("sha256").update(JSON.stringify(content)).digest("hex"),
      description: String(content["description"]),
      states: statesOf(content),
      content,
    }));
}

/**
 * Returns the text of a pact. Descriptions become the keys, because two consumers may use one description for different
 * interactions.
 */
export function pactOf(consumer: string, interactions: readonly HttpInteraction[]): string {
  return JSON.stringify({
    consumer: { name: consumer },
    provider: { name: "provider" },
    interactions: interactions.map(({ key, content }) => ({ ...content, description: key })),
    metadata: { pactSpecification: { version: "4.0" } },
  });
}

/** Returns the text to commit: interactions sorted by name, without the versions of the tools that wrote it. */
export function tidyPact(text: string): string {
  const pact: unknown = JSON.parse(text);
  if (!isRecord(pact) || !Array.isArray(pact["interactions"])) throw new Error("This is not a pact file.");
  const interactions = pact["interactions"].toSorted((a, b) => nameOf(a).localeCompare(nameOf(b), "en"));
  const tidied = { ...pact, interactions, metadata: { pactSpecification: { version: "4.0" } } };
  return `${JSON.stringify(tidied, null, 2)}\n`;
}

function nameOf(interaction: unknown): string {
  return isRecord(interaction) ? [interaction["description"], ...statesOf(interaction)].join(" ") : "";
}

function statesOf({ providerStates }: Readonly<Record<string, unknown>>): string[] {
  if (!Array.isArray(providerStates)) return [];
  return providerStates.map((state) => (isRecord(state) ? String(state["name"]) : ""));
}

export function readPact(file: string): Readonly<Record<string, unknown>> {
  const pact: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isRecord(pact)) throw new Error(`${file} is not a pact file.`);
  return pact;
}

export function readInteractions(file: string): unknown[] {
  const { interactions } = readPact(file);
  return Array.isArray(interactions) ? interactions : [];
}

function messageOf(interaction: unknown): PactMessage {
  if (!isRecord(interaction) || typeof interaction["description"] !== "string")
    throw new Error("an interaction has no description");
  const { description, contents } = interaction;
  return {
    description,
    state: statesOf(interaction)[0] ?? "",
    example: isRecord(contents) ? contents["content"] : undefined,
  };
}
