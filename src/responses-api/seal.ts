import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";

/** Seals text so that only this server reads it again, and only for the same owner. */
export interface Sealer {
  /** Deterministic: the same text, place and owner give the same seal. */
  seal(text: string, place: string, owner: string): string;
  /** The text, or null if the seal is not ours, was changed, or is another owner's. */
  open(sealed: string, owner: string): string | null;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `key`: 32 bytes. AES-256-GCM; the nonce is derived from what is sealed, so that no two texts ever share one. */
export function createSealer(key: Uint8Array): Sealer {
  return {
    seal(text, place, owner) {
      const nonce = createHmac("sha256", key).update(`${owner}\n${place}\n${text}`).digest().subarray(0, NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(owner));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < 1 + NONCE_BYTES + TAG_BYTES || bytes[0] !== VERSION) return null;
      const body = bytes.subarray(1 + NONCE_BYTES + TAG_BYTES);
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(1, 1 + NONCE_BYTES))
          .setAAD(Buffer.from(owner))
          .setAuthTag(bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
      } catch {
        return null; // Authentication failed: the one thing a reader may learn.
      }
    },
  };
}
