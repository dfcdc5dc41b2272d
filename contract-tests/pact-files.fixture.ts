import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isRecord } from "./records.fixture.ts";

/** Where consumers write, anew with each run. */
export const PACTS_DIR = fileURLToPath(new URL("../build/pacts", import.meta.url));
/** What is committed, and what providers are held to. */
export const COMMITTED_DIR = fileURLToPath(new URL("pacts", import.meta.url));

/** Who promises what to whom. Each pair is one pact file. */
export interface Parties {
  readonly consumer: string;
  readonly provider: string;
}

/** The committed pact. */
export function pactFile({ consumer, provider }: Parties): string {
  return `${COMMITTED_DIR}/${consumer}-${provider}.json`;
}

export interface PactMessage {
  readonly description: string;
  readonly state: string;
  /** What the consumer test saw; at verification its shape counts. */
  readonly example: unknown;
}

export interface HttpInteraction {
  /** The same for interactions that ask for the same, whoever asks. */
  readonly key: string;
  readonly description: string;
  readonly states: readonly string[];
  readonly content: Readonly<Record<string, unknown>>;
}

export function readPactMessages(file: string): PactMessage[] {
  return readInteractions(file).map(messageOf);
}

/** The text of a pact file with those of its messages that `keep` chooses. */
export function pickMessages(file: string, keep: (message: PactMessage) => boolean): string {
  const interactions = readInteractions(file).filter((interaction) => keep(messageOf(interaction)));
  return JSON.stringify({ ...readPact(file), interactions });
}

/** None where the file is not there yet. */
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
 * The text of a pact with these interactions. Their keys are their descriptions, as two consumers may describe
 * different things alike.
 */
export function pactOf(consumer: string, interactions: readonly HttpInteraction[]): string {
  return JSON.stringify({
    consumer: { name: consumer },
    provider: { name: "provider" },
    interactions: interactions.map(({ key, content }) => ({ ...content, description: key })),
    metadata: { pactSpecification: { version: "4.0" } },
  });
}

/** The text that is committed: interactions by name, and not a word of which versions of which program wrote it. */
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
