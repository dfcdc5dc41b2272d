import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { isRecord } from "../records.fixture.ts";

/** One small breakage of the server. */
export interface Mutation {
  /** What the broken server does, as a sentence. */
  readonly says: string;
  /** Relative to the repository. */
  readonly file: string;
  /** Stands once in the file, and is replaced by `to`. */
  readonly from: string;
  readonly to: string;
}

/** Throws where an entry is not whole, or its sentence is used twice. */
export function readMutations(): Mutation[] {
  const entries: unknown = parse(readFileSync(join(import.meta.dirname, "mutations.yaml"), "utf8"));
  if (!Array.isArray(entries)) throw new Error("mutations.yaml is not a list.");
  const mutations = entries.map(mutationOf);
  const twice = mutations.find(({ says }, index) => mutations.findIndex((other) => other.says === says) < index);
  if (twice !== undefined) throw new Error(`"${twice.says}" stands twice in mutations.yaml.`);
  return mutations;
}

function mutationOf(entry: unknown): Mutation {
  if (!isRecord(entry)) throw new Error("An entry of mutations.yaml is not an object.");
  const { says, file, from, to } = entry;
  if (typeof says !== "string" || typeof file !== "string" || typeof from !== "string" || typeof to !== "string")
    throw new Error(`This entry of mutations.yaml is not whole: ${JSON.stringify(entry)}`);
  return { says, file, from, to };
}

/** The file's text with the breakage in it. Throws where the place is not found, or is not the only one. */
export function broken(text: string, { says, file, from, to }: Mutation): string {
  const places = text.split(from).length - 1;
  if (from === "" || places !== 1)
    throw new Error(`"${says}": ${file} has ${places} places that read ${JSON.stringify(from)}.`);
  return text.replace(from, () => to);
}
