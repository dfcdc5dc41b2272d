/** `String.fromCharCode` takes this many arguments on every platform. */
const BLOCK_BYTES = 8192;

/** Encodes bytes as base64, as audio messages need it. Works in browsers and servers. */
export function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES)
    text += String.fromCharCode(...bytes.subarray(start, start + BLOCK_BYTES));
  return btoa(text);
}
