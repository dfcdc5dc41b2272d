import { readFileSync } from "node:fs";

/** A variable of the environment as a file of the operator names it: `${NAME}`. */
export const VARIABLE = /\$\{(\w+)\}/g;

/** The variables that the text of a file names; none if there is no such file. */
export function variablesOf(file: string | null): ReadonlySet<string> {
  if (file === null) return new Set();
  try {
    return new Set(Array.from(readFileSync(file, "utf8").matchAll(VARIABLE), ([, name = ""]) => name));
  } catch {
    return new Set(); // Whoever uses the file tells why it cannot be read.
  }
}
