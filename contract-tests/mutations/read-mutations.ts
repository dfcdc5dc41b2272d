import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { isRecord } from "../records.fixture.ts";

/** One small fault to put into the server. */
export interface Mutation {
  /** What the broken server does, in one sentence. */
  readonly says: string;
  /** Path relative to the repository's root. */
  readonly file: string;
  /** Occurs exactly once in the file, and is replaced by `to`. */
  readonly from: string;
  readonly to: string;
}

/** Reads a list of mutations. Throws if an entry is incomplete or a sentence occurs twice. */
export function readMutations(file = join(import.meta.dirname, "mutations.yaml")): Mutation[] {
  const entries: unknown = parse(readFileSync(file, "utf8"));
  if (!Array.isArray(entries)) throw new Error(`${file} is not a list.`);
  const mutations = entries.map(mutationOf);
  const twice = mutations.find(({ says }, index) => mutations.findIndex((other) => other.says === says) < index);
  if (twice !== undefined) throw new Error(`"${twice.says}" occurs twice in ${file}.`);
  return mutations;
}

function mutationOf(entry: unknown): Mutation {
  if (!isRecord(entry)) throw new Error("An entry of mutations.yaml is not an object.");
  const { says, file, from, to } = entry;
  if (typeof says !== "string" || typeof file !== "string" || typeof from !== "string" || typeof to !== "string")
    throw new Error(`This entry of mutations.yaml is incomplete: ${JSON.stringify(entry)}`);
  return { says, file, from, to };
}

/** Returns the file's text with the mutation. Throws unless `from` occurs exactly once. */
export function withMutation(text: string, { says, file, from, to }: Mutation): string {
  const places = text.split(from).length - 1;
  if (from === "" || places !== 1)
    throw new Error(`"${says}": ${file} contains ${JSON.stringify(from)} ${places} times, expected once.`);
  return text.replace(from, () => to);
}
