import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hashApiKey, newApiKey } from "@antiphon/base/api-key.ts";
import type { KeyFinder, KeyStore, KnownKey, NewKey } from "@antiphon/domain/keys.ts";
import { ownersOf, readConfiguredKey } from "./key-owners.ts";

/** Modes of files and folders that only their owner may read. */
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
/** The number of a key's last characters that are stored for recognition. */
const SHOWN_LAST = 4;

const FIRST_KEY_FILE = "api-key";

export interface ApiKeys {
  readonly finder: KeyFinder;
  /** Finds a key that is valid by its id. */
  readonly findById: (id: string) => Promise<KnownKey | null>;
  /** The key created at this start, to be shown once; null if there were keys already. */
  readonly firstKey: string | null;
  /** The file of the first key. */
  readonly file: string;
}

/**
 * The keys that may call the API: configured and stored ones. If there are none, creates one, stores its hash, and
 * writes it to `api-key` in the data folder. If several servers start at the same time, only one does.
 */
export async function openApiKeys(keyTexts: readonly string[], store: KeyStore, dataDir: string): Promise<ApiKeys> {
  const file = join(dataDir, FIRST_KEY_FILE);
  const byHash = configuredKeys(keyTexts);
  const finder: KeyFinder = { findByHash: async (hash) => byHash.get(hash) ?? store.findByHash(hash) };
  const byId = new Map([...byHash.values()].map((key) => [key.id, key]));
  const findById = async (id: string): Promise<KnownKey | null> => byId.get(id) ?? (await findValid(store, id));
  if (byHash.size > 0 || (await store.count()) > 0) return { finder, findById, firstKey: null, file };
  const firstKey = newApiKey();
  if (!(await store.addFirstKey(newKey(firstKey, "first start", { isOperator: true }))))
    return { finder, findById, firstKey: null, file };
  writeSecret(dataDir, file, `${firstKey}\n`);
  return { finder, findById, firstKey, file };
}

/** Null for a key that is unknown, revoked or expired. */
async function findValid(store: KeyStore, id: string): Promise<KnownKey | null> {
  const key = await store.findKey(id);
  const isOver =
    key === null || key.revokedAt !== null || (key.expiresAt ?? Number.POSITIVE_INFINITY) * 1000 <= Date.now();
  return isOver ? null : key;
}

/** The key that the first start created; null if it created none. */
export async function readFirstKey(dataDir: string): Promise<string | null> {
  const text = await readFile(join(dataDir, FIRST_KEY_FILE), "utf8").catch(() => "");
  return text.trim() === "" ? null : text.trim();
}

/** The stored form of a new key. Default: for the default owner, with the default limits and without expiry. */
export function newKey(key: string, name: string, more: Partial<NewKey> = {}): NewKey {
  const limits = { requests: null, tokens: null };
  return {
    hash: hashApiKey(key),
    name,
    lastFour: key.slice(-SHOWN_LAST),
    ...ownersOf([]),
    limits,
    expiresAt: null,
    ...more,
  };
}

/** Configured keys by their hash. A key listed several times acts for each of its listed owners. */
function configuredKeys(entries: readonly string[]): ReadonlyMap<string, KnownKey> {
  const keys = new Map<string, KnownKey>();
  for (const [key, group] of Map.groupBy(entries.map(readConfiguredKey), (entry) => entry.key)) {
    const hash = hashApiKey(key);
    const owners = ownersOf(group.flatMap(({ owner }) => (owner === null ? [] : [owner])));
    keys.set(hash, { id: `configured_${hash.slice(0, 12)}`, ...owners, limits: { requests: null, tokens: null } });
  }
  return keys;
}

function writeSecret(folder: string, file: string, text: string): void {
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  writeFileSync(file, text, { mode: OWNER_ONLY_FILE });
}
