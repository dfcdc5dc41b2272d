/** The longest argument list that every platform takes. */
const BLOCK_BYTES = 8192;

/** Bytes in base64, as the messages of streams carry sound; in browsers too. */
export function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES)
    text += String.fromCharCode(...bytes.subarray(start, start + BLOCK_BYTES));
  return btoa(text);
}
