import { readFileSync } from "node:fs";

/** A variable of the environment in an operator's file: `${NAME}`. */
export const VARIABLE = /\$\{(\w+)\}/g;

/** The name of a variable that holds a key. */
const KEY_VARIABLE = /\bapi_key_env:\s*["']?(\w+)/g;

/** The variables that a file mentions; none if the file does not exist. */
export function variablesOf(file: string | null): ReadonlySet<string> {
  if (file === null) return new Set();
  try {
    const text = readFileSync(file, "utf8");
    const mentions = [...text.matchAll(VARIABLE), ...text.matchAll(KEY_VARIABLE)];
    return new Set(mentions.map(([, name = ""]) => name));
  } catch {
    return new Set(); // The reader of the file reports why it cannot be read.
  }
}
