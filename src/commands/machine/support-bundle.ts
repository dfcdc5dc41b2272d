import { writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import type { Config } from "../../config/load-config.ts";
import { Secret } from "../../config/secret.ts";
import { secretsOf } from "../../config/secrets-of.ts";
import type { Setting } from "../../config/setting.ts";
import { SETTINGS } from "../../config/settings.ts";
import { programVersion } from "../../version/program-version.ts";

const OWNER_ONLY = 0o600;
const HIDDEN = "[secret]";
/** Shorter texts may be ordinary words, which hiding would tear apart. */
const SECRET_CHARACTERS_MIN = 4;
/** What keys of providers look like, as their servers quote them in errors. */
const KEYS = /\b(?:Bearer\s+[^\s"]+|(?:sk|pk|key|tok|hf|gh[a-z]|xox[a-z])[-_][\w-]{12,})/g;
/** The user and password, and the query, of an address. */
const CREDENTIALS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s"/?#@]+@/gi;
const QUERY = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s"?#]*)\?[^\s"#]*/gi;

/**
 * Writes what somebody who helps needs to know into a new file, as JSON that only its owner may read: the program, the
 * machine, the settings that are not defaults, and `findings`. It has no secrets: neither those of the settings,
 * nor what looks like a key, nor user names, passwords and queries of addresses. Throws the error of the file system,
 * such as `EEXIST`.
 */
export function writeSupportBundle(path: string, config: Config, findings: object): void {
  const whole = { version: programVersion(), ...machineFacts(), settings: changedSettings(config), ...findings };
  const text = withoutSecretTexts(JSON.stringify(whole, null, 2), secretsOf(config));
  writeFileSync(path, `${text}\n`, { mode: OWNER_ONLY, flag: "wx" });
}

function machineFacts() {
  const { node, v8, sqlite, openssl } = process.versions;
  return {
    at: new Date().toISOString(),
    node: { node, v8, sqlite, openssl },
    system: { platform: process.platform, architecture: process.arch, release: release() },
    processors: cpus().length,
    memory_bytes: totalmem(),
    memory_limit_bytes: process.constrainedMemory() || null,
  };
}

/** The settings that differ from their defaults, by their names. Of secrets it is only said that they are set. */
function changedSettings(config: Config): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = { ...config };
  const entries = Object.entries<Setting>(SETTINGS).flatMap(([member, setting]) => {
    const value = values[member];
    if (JSON.stringify(value) === JSON.stringify(setting.default)) return [];
    return [[setting.name, shownValue(value)] as const];
  });
  return Object.fromEntries(entries);
}

function shownValue(value: unknown): unknown {
  if (value instanceof Secret) return HIDDEN;
  if (Array.isArray(value) && value.some((element) => element instanceof Secret)) return value.map(() => HIDDEN);
  return value;
}

function withoutSecretTexts(text: string, secrets: readonly string[]): string {
  const long = secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN);
  const longestFirst = long.toSorted((one, other) => other.length - one.length);
  const hidden = longestFirst.reduce(
    (left, secret) => left.replaceAll(JSON.stringify(secret).slice(1, -1), HIDDEN),
    text,
  );
  return hidden.replaceAll(KEYS, HIDDEN).replaceAll(CREDENTIALS, `$1${HIDDEN}@`).replaceAll(QUERY, `$1?${HIDDEN}`);
}
