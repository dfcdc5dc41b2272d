import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

/** Encrypts text so that only this server can read it, and only for the same owner. */
export interface Sealer {
  /** Deterministic: the same text, place and owner give the same seal until a newer key is added. */
  seal(text: string, place: string, owner: string): string;
  /** The text; null if the seal is not from this server, was changed, or is another owner's. */
  open(sealedText: string, owner: string): string | null;
}

/** Returns keys of 32 bytes, newest first, at least one. */
export type ReadSealKeys = () => readonly Uint8Array[];

/** The first byte of a seal without a key id. Such seals date from before keys could be rotated. */
const WITHOUT_KEY_ID = 1;
/** The first byte of a seal with a key id. */
const WITH_KEY_ID = 2;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The minimum milliseconds between two reads of the keys. */
const REREAD_MS = 5000;

interface SealKey {
  readonly id: Buffer;
  readonly bytes: Uint8Array;
  /** Derived from `bytes`, for one purpose each. */
  readonly cipherKey: Buffer;
  readonly nonceKey: Buffer;
}

/**
 * AES-256-GCM. The nonce is derived from the sealed content, so that two texts never share one. The newest key seals
 * and every key opens. `readKeys` is called again when a seal names an unknown key, because another process may have
 * added it.
 */
export function createSealer(readKeys: ReadSealKeys, nowMs: () => number = () => performance.now()): Sealer {
  let keys = readKeys().map(sealKey);
  let readAtMs = nowMs();

  const findKey = (id: Buffer): SealKey | undefined => {
    const match = keys.find((key) => key.id.equals(id));
    if (match !== undefined || nowMs() - readAtMs < REREAD_MS) return match;
    readAtMs = nowMs();
    const read = readKeys().map(sealKey);
    keys = [...read, ...keys.filter((old) => !read.some((key) => key.id.equals(old.id)))];
    return keys.find((key) => key.id.equals(id));
  };

  return {
    seal(text, place, owner) {
      const [key] = keys;
      if (key === undefined) throw new Error("readKeys returned no key to seal with");
      const nonce = hmac(key.nonceKey, `${owner}\n${place}\n${text}`).subarray(0, NONCE_BYTES);
      const head = Buffer.concat([Buffer.from([WITH_KEY_ID]), key.id, nonce]);
      const cipher = createCipheriv("aes-256-gcm", key.cipherKey, nonce).setAAD(Buffer.from(owner));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([head, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealedText, owner) {
      const bytes = Buffer.from(sealedText, "base64url");
      if (bytes.toString("base64url") !== sealedText) return null; // Buffer's decoder ignores invalid characters.
      if (bytes[0] === WITHOUT_KEY_ID) return openWithAny(keys, bytes.subarray(1), owner);
      if (bytes[0] !== WITH_KEY_ID) return null;
      const key = findKey(bytes.subarray(1, 1 + KEY_ID_BYTES));
      return key === undefined ? null : decipher(key.cipherKey, bytes.subarray(1 + KEY_ID_BYTES), owner);
    },
  };
}

function sealKey(bytes: Uint8Array): SealKey {
  const derive = (use: string): Buffer => hmac(bytes, `antiphon seal: ${use}`);
  return {
    bytes,
    id: derive("id").subarray(0, KEY_ID_BYTES),
    cipherKey: derive("cipher"),
    nonceKey: derive("nonce"),
  };
}

function openWithAny(keys: readonly SealKey[], bytes: Buffer, owner: string): string | null {
  for (const key of keys) {
    const text = decipher(key.bytes, bytes, owner);
    if (text !== null) return text;
  }
  return null;
}

/** `bytes` is nonce, tag and ciphertext. */
function decipher(key: Uint8Array, bytes: Buffer, owner: string): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  try {
    const opening = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(owner))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([opening.update(body), opening.final()]).toString("utf8");
  } catch {
    return null; // Authentication failed. The caller must learn nothing more.
  }
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
