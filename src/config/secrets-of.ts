import type { Config } from "./load-config.ts";
import { Secret } from "./secret.ts";

/** Shorter parts of a secret may be ordinary words. */
const PART_CHARACTERS_MIN = 8;

/** All secret texts of a configuration and their parts, such as the key without its owner. */
export function secretsOf(config: Config): readonly string[] {
  const secrets = Object.values(config)
    .flat()
    .flatMap((value) => (value instanceof Secret ? [value.reveal()] : []));
  const parts = secrets.flatMap((secret) => [...secret.split(/[=,]/), ...passwordOf(secret)]);
  return [...new Set([...secrets, ...parts.filter((part) => part.length >= PART_CHARACTERS_MIN)])];
}

/** The password in an address, both encoded and decoded. */
function passwordOf(secret: string): readonly string[] {
  const { password = "" } = URL.canParse(secret) ? new URL(secret) : {};
  return [password, decodeURIComponent(password)];
}
