import pino from "pino";
import type { Logger } from "../base/logger.ts";
import { describeError } from "./describe-error.ts";

/** How the log is written. */
export interface LogOptions {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** What must not be in any line, should an error's text repeat it. */
  readonly secrets: readonly string[];
}

/** The log of the process. */
export interface RootLog extends Logger {
  child(fields: object): RootLog;
  flush(): void;
}

/** Members that hold secrets or content wherever they stand. Nothing logs them on purpose. */
const NEVER_SHOWN = ["authorization", "apiKey", "api_key", "encrypted_content", "file_data", "image_url"];

/** Lines of JSON on standard output. */
export function openLog({ level, secrets }: LogOptions): RootLog {
  return pino({
    level,
    redact: NEVER_SHOWN.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
    serializers: { err: (error: unknown) => describeError(error, secrets) },
  });
}
