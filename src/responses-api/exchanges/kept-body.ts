import { isUtf8 } from "node:buffer";
import type { ExchangeBody } from "../../../generated/responses-api/types.ts";
import { redactText } from "../../base/exchanges/redact.ts";

/** A secret at the end of the stored part is detected if it ends within this many more bytes. */
const BEYOND_BYTES = 4 * 1024;
const CHARACTER_BYTES_MAX = 4;

/** The first bytes of a body. */
export class KeptBody {
  readonly #bytesMax: number;
  readonly #pieces: Uint8Array[] = [];
  #kept = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Copies the bytes that it stores. */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const room = this.#bytesMax + BEYOND_BYTES - this.#kept;
    if (room <= 0) return;
    this.#pieces.push(Buffer.from(bytes.subarray(0, room)));
    this.#kept += Math.min(room, bytes.length);
  }

  /** The body without these secrets. */
  shown(secrets: readonly string[]): ExchangeBody {
    const all = Buffer.concat(this.#pieces);
    const isTruncated = this.#bytes > this.#bytesMax;
    const isCut = this.#bytes > this.#kept;
    const text = utf8Text(all, isCut);
    const kind = { bytes: this.#bytes, is_truncated: isTruncated };
    if (text === null) return { encoding: "base64", text: all.subarray(0, this.#bytesMax).toString("base64"), ...kind };
    const redacted = redactText(text, secrets);
    // Redaction shortens the text, so its end may be shown although more was stored.
    const shown = isCut ? withoutBegunSecret(redacted, secrets) : redacted;
    return { encoding: "utf-8", text: isTruncated ? shown.slice(0, this.#bytesMax).toWellFormed() : shown, ...kind };
  }
}

/** The text without an incomplete secret at its end. */
function withoutBegunSecret(text: string, secrets: readonly string[]): string {
  const begun = secrets.map((secret) => {
    for (let length = secret.length - 1; length > 0; length -= 1)
      if (text.endsWith(secret.slice(0, length))) return length;
    return 0;
  });
  return text.slice(0, text.length - Math.max(0, ...begun));
}

/** Null if the bytes are not text. `isCut`: the last character may be incomplete. */
function utf8Text(bytes: Buffer, isCut: boolean): string | null {
  for (let cut = 0; cut < (isCut ? CHARACTER_BYTES_MAX : 1); cut++) {
    const whole = bytes.subarray(0, Math.max(0, bytes.length - cut));
    if (isUtf8(whole)) return whole.toString("utf8");
  }
  return null;
}
