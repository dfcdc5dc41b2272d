/** The bytes that a base64 text stands for; none if it is not base64. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let index = 0; index < binary.length; index++) bytes[index] = binary.codePointAt(index) ?? 0;
    return bytes;
  } catch {
    return new Uint8Array(0);
  }
}
