import type { Logger } from "@antiphon/base/logger.ts";
import pino, { type DestinationStream } from "pino";
import { describeError } from "./describe-error.ts";
import { withoutSecrets } from "./without-secrets.ts";

export interface LogOptions {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Texts that are removed from every line, in case an error message repeats them. */
  readonly secrets: readonly string[];
  /** The name of this server among several. Part of every line. */
  readonly node: string;
  /** Rewrites each JSON line before it is written; null for no change. */
  readonly rewrite?: ((line: string) => string) | null;
}

export interface RootLog extends Logger {
  child(fields: object): RootLog;
  flush(): void;
}

/** Writes to standard output: JSON lines, unless they are rewritten. */
export function openLog({ level, secrets, node, rewrite = null }: LogOptions): RootLog {
  return pino(
    {
      level,
      base: { pid: process.pid, node },
      formatters: { log: withoutSecrets, bindings: withoutSecrets },
      serializers: { err: (error: unknown) => describeError(error, secrets) },
    },
    linesOfATurn(rewrite),
  );
}

/** This many bytes are written at once, before the turn is over. */
const UNWRITTEN_BYTES_MAX = 8 * 1024;

/**
 * Writes the lines of one turn of the event loop together: a busy server has several per turn, and a write is
 * expensive.
 */
function linesOfATurn(rewrite: LogOptions["rewrite"]): DestinationStream & { flush(): void; flushSync(): void } {
  const out = pino.destination({ sync: true, minLength: UNWRITTEN_BYTES_MAX });
  let isPlanned = false;
  const flush = (): void => {
    isPlanned = false;
    out.flushSync();
  };
  process.once("exit", flush);
  return {
    write: (line) => {
      out.write(rewrite == null ? line : rewrite(line));
      if (isPlanned) return;
      isPlanned = true;
      setImmediate(flush);
    },
    flush,
    flushSync: flush,
  };
}
