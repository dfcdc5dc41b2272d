import { isUtf8 } from "node:buffer";
import { redactText } from "@antiphon/base/exchanges/redact.ts";
import type { ExchangeBody } from "@antiphon/contracts/responses-api/types.ts";

/** A secret at the end of the stored part is detected if it ends within this many more bytes. */
const BEYOND_BYTES = 4 * 1024;
const CHARACTER_BYTES_MAX = 4;

/** The first bytes of a body. */
export class KeptBody {
  readonly #bytesMax: number;
  readonly #pieces: Uint8Array[] = [];
  #byteCount = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Copies the bytes that it stores. */
  add(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    const room = this.#bytesMax + BEYOND_BYTES - this.#byteCount;
    if (room <= 0) return;
    this.#pieces.push(Buffer.from(bytes.subarray(0, room)));
    this.#byteCount += Math.min(room, bytes.length);
  }

  /** The body without these secrets. */
  redact(secrets: readonly string[]): ExchangeBody {
    const all = Buffer.concat(this.#pieces);
    const isTruncated = this.#bytes > this.#bytesMax;
    const isCut = this.#bytes > this.#byteCount;
    const text = utf8Text(all, isCut);
    const kind = { bytes: this.#bytes, is_truncated: isTruncated };
    if (text === null) return { encoding: "base64", text: all.subarray(0, this.#bytesMax).toString("base64"), ...kind };
    const redactedText = redactText(text, secrets);
    // Redaction shortens the text, so its end may be shown although more was stored.
    const visibleText = isCut ? withoutBegunSecret(redactedText, secrets) : redactedText;
    return {
      encoding: "utf-8",
      text: isTruncated ? visibleText.slice(0, this.#bytesMax).toWellFormed() : visibleText,
      ...kind,
    };
  }
}

/** The text without an incomplete secret at its end. */
function withoutBegunSecret(text: string, secrets: readonly string[]): string {
  const partLengths = secrets.map((secret) => {
    for (let length = secret.length - 1; length > 0; length -= 1)
      if (text.endsWith(secret.slice(0, length))) return length;
    return 0;
  });
  return text.slice(0, text.length - Math.max(0, ...partLengths));
}

/** Null if the bytes are not text. `isCut`: the last character may be incomplete. */
function utf8Text(bytes: Buffer, isCut: boolean): string | null {
  for (let cut = 0; cut < (isCut ? CHARACTER_BYTES_MAX : 1); cut++) {
    const whole = bytes.subarray(0, Math.max(0, bytes.length - cut));
    if (isUtf8(whole)) return whole.toString("utf8");
  }
  return null;
}
