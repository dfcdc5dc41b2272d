import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isRecord } from "./records.fixture.ts";

export const PACTS_DIR = fileURLToPath(new URL("../pacts", import.meta.url));

/** Who promises what to whom. Each pair is one pact file. */
export interface Parties {
  readonly consumer: string;
  readonly provider: string;
}

export function pactFile({ consumer, provider }: Parties): string {
  return `${PACTS_DIR}/${consumer}-${provider}.json`;
}

export interface PactMessage {
  readonly description: string;
  readonly state: string;
  /** What the consumer test saw; at verification its shape counts. */
  readonly example: unknown;
}

export function readPactMessages(file: string): PactMessage[] {
  return readInteractions(file).map(messageOf);
}

/** The text of a pact file with those of its messages that `keep` chooses. */
export function pickMessages(file: string, keep: (message: PactMessage) => boolean): string {
  const interactions = readInteractions(file).filter((interaction) => keep(messageOf(interaction)));
  return JSON.stringify({ ...readPact(file), interactions });
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
  const { description, providerStates, contents } = interaction;
  const state: unknown = Array.isArray(providerStates) ? providerStates[0] : undefined;
  return {
    description,
    state: isRecord(state) ? String(state["name"]) : "",
    example: isRecord(contents) ? contents["content"] : undefined,
  };
}
