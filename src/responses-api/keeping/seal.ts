import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

/** Seals text so that only this server reads it again, and only for the same owner. */
export interface Sealer {
  /** Deterministic: the same text, place and owner give the same seal, as long as the newest key stays. */
  seal(text: string, place: string, owner: string): string;
  /** The text, or null if the seal is not ours, was changed, or is another owner's. */
  open(sealed: string, owner: string): string | null;
}

/** The keys of 32 bytes, newest first, at least one. */
export type ReadSealKeys = () => readonly Uint8Array[];

/** Made with the one key there was; does not name it. */
const UNNAMED = 1;
/** Names its key, so that keys can be changed. */
const NAMED = 2;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** How often a seal that names an unknown key may have the keys read again. */
const REREAD_MS = 5000;

interface SealKey {
  readonly id: Buffer;
  readonly bytes: Uint8Array;
  /** Keys for one use each, derived from `bytes`. */
  readonly cipherKey: Buffer;
  readonly nonceKey: Buffer;
}

/**
 * AES-256-GCM; the nonce is derived from what is sealed, so that no two texts ever share one. The newest key seals and
 * every key opens. Another process may add a key: `readKeys` is asked again when a seal names one that is not known.
 */
export function createSealer(readKeys: ReadSealKeys, nowMs: () => number = () => performance.now()): Sealer {
  let keys = readKeys().map(sealKey);
  let readAtMs = nowMs();

  const findKey = (id: Buffer): SealKey | undefined => {
    const known = keys.find((key) => key.id.equals(id));
    if (known !== undefined || nowMs() - readAtMs < REREAD_MS) return known;
    readAtMs = nowMs();
    const read = readKeys().map(sealKey);
    keys = [...read, ...keys.filter((old) => !read.some((key) => key.id.equals(old.id)))];
    return keys.find((key) => key.id.equals(id));
  };

  return {
    seal(text, place, owner) {
      const [key] = keys;
      if (key === undefined) throw new Error("there is no key to seal with");
      const nonce = hmac(key.nonceKey, `${owner}\n${place}\n${text}`).subarray(0, NONCE_BYTES);
      const head = Buffer.concat([Buffer.from([NAMED]), key.id, nonce]);
      const cipher = createCipheriv("aes-256-gcm", key.cipherKey, nonce).setAAD(Buffer.from(owner));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([head, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.toString("base64url") !== sealed) return null; // Decoding overlooks what does not belong there.
      if (bytes[0] === UNNAMED) return openWithAny(keys, bytes.subarray(1), owner);
      if (bytes[0] !== NAMED) return null;
      const key = findKey(bytes.subarray(1, 1 + KEY_ID_BYTES));
      return key === undefined ? null : decipher(key.cipherKey, bytes.subarray(1 + KEY_ID_BYTES), owner);
    },
  };
}

function sealKey(bytes: Uint8Array): SealKey {
  const derived = (use: string): Buffer => hmac(bytes, `antiphon seal: ${use}`);
  return {
    bytes,
    id: derived("id").subarray(0, KEY_ID_BYTES),
    cipherKey: derived("cipher"),
    nonceKey: derived("nonce"),
  };
}

function openWithAny(keys: readonly SealKey[], bytes: Buffer, owner: string): string | null {
  for (const key of keys) {
    const text = decipher(key.bytes, bytes, owner);
    if (text !== null) return text;
  }
  return null;
}

/** `bytes`: nonce, tag, ciphertext. */
function decipher(key: Uint8Array, bytes: Buffer, owner: string): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  try {
    const opening = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(owner))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([opening.update(body), opening.final()]).toString("utf8");
  } catch {
    return null; // Authentication failed: the one thing a reader may learn.
  }
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
