import pino from "pino";
import type { Logger } from "../base/logger.ts";
import { describeError } from "./describe-error.ts";

export interface LogOptions {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Texts that are removed from every line, in case an error's message repeats them. */
  readonly secrets: readonly string[];
}

export interface RootLog extends Logger {
  child(fields: object): RootLog;
  flush(): void;
}

/** Members that hold secrets or content at any depth. Nothing logs them on purpose. */
const NEVER_SHOWN = ["authorization", "apiKey", "api_key", "encrypted_content", "file_data", "image_url"];

/** Writes JSON lines to standard output. */
export function openLog({ level, secrets }: LogOptions): RootLog {
  return pino({
    level,
    redact: NEVER_SHOWN.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    serializers: { err: (error: unknown) => describeError(error, secrets) },
  });
}
