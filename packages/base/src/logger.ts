/** The log; pino satisfies it. Fields must never hold bodies, keys or query strings. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Drops everything. */
export const silentLogger: Logger = { debug: drop, info: drop, warn: drop, error: drop };

function drop(): void {}
