import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { ConfigError } from "../config/config-error.ts";

const FILE_NAME = "seal-key";
const KEY_BYTES = 32;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

const KEY = /^[0-9a-f]{64}$/i;

/**
 * Reads the keys that encrypt data held by clients, newest first. `given` is SEAL_KEYS: keys, or the absolute path of a
 * file with a key per line. If it is empty, the keys are the lines of `seal-key` in the data folder, which is created
 * if missing.
 */
export function readSealKeys(keyTexts: readonly string[], dataDir: string): readonly Uint8Array[] {
  const [first] = keyTexts;
  if (first === undefined) return openSealKeys(dataDir);
  if (keyTexts.length === 1 && isAbsolute(first)) return keysOfFile(first);
  const bad = keyTexts.findIndex((key) => !KEY.test(key));
  if (bad !== -1) throw new ConfigError([`Key ${bad + 1} of SEAL_KEYS is not 64 hexadecimal digits.`]);
  return keyTexts.map((key) => Buffer.from(key, "hex"));
}

function keysOfFile(file: string): readonly Uint8Array[] {
  const text = readOrNull(file);
  if (text === null) throw new ConfigError([`SEAL_KEYS names the file ${file}, which is not there.`]);
  return parseKeys(text, file);
}

function openSealKeys(dataDir: string): readonly Uint8Array[] {
  const file = join(dataDir, FILE_NAME);
  const text = readOrNull(file);
  if (text !== null) return parseKeys(text, file);
  mkdirSync(dataDir, { recursive: true, mode: OWNER_ONLY_FOLDER });
  const key = randomBytes(KEY_BYTES);
  try {
    writeFileSync(file, `${key.toString("hex")}\n`, { mode: OWNER_ONLY_FILE, flag: "wx" });
    return [key];
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    return openSealKeys(dataDir); // Another process has just created the file.
  }
}

/** Adds a new first key; the older ones can still decrypt. Returns the number of keys. */
export function rotateSealKey(dataDir: string): number {
  const keys = [randomBytes(KEY_BYTES), ...openSealKeys(dataDir)];
  const file = join(dataDir, FILE_NAME);
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, keys.map((key) => `${Buffer.from(key).toString("hex")}\n`).join(""), {
      mode: OWNER_ONLY_FILE,
      flag: "wx",
    });
    renameSync(draft, file); // Atomic: a reader sees the old file or the new one.
  } finally {
    rmSync(draft, { force: true });
  }
  return keys.length;
}

function parseKeys(text: string, file: string): readonly Uint8Array[] {
  const lines = text.split("\n").map((line) => line.trim());
  const bad = lines.findIndex((line) => line !== "" && !KEY.test(line));
  if (bad !== -1) throw new ConfigError([`Line ${bad + 1} of ${file} is no key: 64 hexadecimal digits.`]);
  const keys = lines.filter((line) => line !== "").map((line) => Buffer.from(line, "hex"));
  if (keys.length === 0) throw new ConfigError([`${file} holds no key.`]);
  return keys;
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
