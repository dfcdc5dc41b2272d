import { readFileSync } from "node:fs";

/** A variable of the environment in an operator's file: `${NAME}`. */
export const VARIABLE = /\$\{(\w+)\}/g;

/** The variables that a file mentions; none if the file does not exist. */
export function variablesOf(file: string | null): ReadonlySet<string> {
  if (file === null) return new Set();
  try {
    return new Set(Array.from(readFileSync(file, "utf8").matchAll(VARIABLE), ([, name = ""]) => name));
  } catch {
    return new Set(); // The reader of the file reports why it cannot be read.
  }
}
