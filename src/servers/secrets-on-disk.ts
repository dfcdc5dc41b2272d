import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashApiKey, newApiKey } from "../base/api-key.ts";
import type { KeyFinder } from "../responses-api/authenticate.ts";
import type { Owner } from "../runs/ports.ts";
import type { KeyStore } from "../store/key-store.ts";

/** Files and folders that only their owner may read. */
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const SEAL_KEY_BYTES = 32;
const DEFAULT_OWNER: Owner = { organization: "default", project: "default" };

export interface ApiKeys {
  readonly finder: KeyFinder;
  /** The key this start made, to be shown once; null if there were keys already. */
  readonly made: string | null;
  /** Where that key was, or once was, written. */
  readonly file: string;
}

/** The keys that may call the API: those configured, else those stored, else one made now, stored as a hash and written to `api-key` in the data folder. */
export async function openApiKeys(configured: readonly string[], store: KeyStore, dataDir: string): Promise<ApiKeys> {
  const file = join(dataDir, "api-key");
  const hashes = new Set(configured.map(hashApiKey));
  const finder: KeyFinder = {
    findByHash: async (hash) =>
      hashes.has(hash) ? { id: `configured_${hash.slice(0, 12)}`, owner: DEFAULT_OWNER } : store.findByHash(hash),
  };
  if (hashes.size > 0 || (await store.count()) > 0) return { finder, made: null, file };
  const made = newApiKey();
  await store.addKey(hashApiKey(made), DEFAULT_OWNER, "first start");
  writeSecret(dataDir, file, `${made}\n`);
  return { finder, made, file };
}

/** The key that seals what clients carry for us, made at the first start. */
export function openSealKey(dataDir: string): Uint8Array {
  const file = join(dataDir, "seal-key");
  try {
    return Buffer.from(readFileSync(file, "utf8").trim(), "hex");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  const key = randomBytes(SEAL_KEY_BYTES);
  writeSecret(dataDir, file, `${key.toString("hex")}\n`);
  return key;
}

function writeSecret(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  writeFileSync(file, text, { mode: OWNER_ONLY_FILE });
}
