import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { Environment } from "../load-config.ts";
import { FILE_NAMES } from "./variable-names.ts";

/**
 * Merges the `.env` file of the working folder and the credentials of a systemd service, if they exist, into the
 * process's environment. Credentials override the file, and the environment overrides both. The names in the file are
 * listed under `FILE_NAMES`.
 */
export function readEnvironment(file = ".env", environment: Environment = process.env): Environment {
  const lines = parseEnv(readIfThere(file));
  const names = Object.keys(lines);
  const fileNames = names.length === 0 ? {} : { [FILE_NAMES]: names };
  return { ...lines, ...readCredentials(environment), ...environment, ...fileNames };
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

/** The name of a setting. If systemd loads a whole folder, the unit's name for it is a prefix. */
const CREDENTIAL = /^(?:antiphon_)?([A-Z][A-Z0-9_]*)$/;

/**
 * Reads the files of `CREDENTIALS_DIRECTORY`, where systemd puts secrets for one service. Each file is named after its
 * setting, such as `API_KEYS`. Several lines are a list. Other files are ignored.
 */
function readCredentials({ CREDENTIALS_DIRECTORY: folder = "" }: Environment): Environment {
  if (folder === "") return {};
  const entries = readdirSync(folder).flatMap((file) => {
    const setting = CREDENTIAL.exec(file)?.[1];
    return setting === undefined ? [] : [[setting, valueIn(join(folder, file))]];
  });
  return Object.fromEntries(entries);
}

function valueIn(file: string): string {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(",");
}
