import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Environment } from "./load-config.ts";

/** Merges the `.env` file of the working folder, if there is one, into the process's environment, which wins. */
export function readEnvironment(file = ".env", environment: Environment = process.env): Environment {
  return { ...parseEnv(readIfThere(file)), ...environment };
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}
