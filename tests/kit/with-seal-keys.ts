type Environment = Readonly<Record<string, string | undefined>>;

/** Servers on PostgreSQL do not start without the keys that all servers of a database share. */
export function withSealKeys<Env extends Environment>(env: Env): Env {
  return env["DATABASE_URL"] === undefined ? env : { SEAL_KEYS: "5e".repeat(32), ...env };
}
