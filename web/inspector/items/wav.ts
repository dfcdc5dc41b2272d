const HEADER_BYTES = 44;

/** A WAV file of 16-bit mono samples. */
export function wavOf(pieces: readonly Int16Array[], sampleRate: number): Uint8Array<ArrayBuffer> {
  const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const file = new Uint8Array(HEADER_BYTES + bytes);
  const view = new DataView(file.buffer);
  const write = (at: number, text: string): void => {
    for (const [index, letter] of [...text].entries()) view.setUint8(at + index, letter.codePointAt(0) ?? 0);
  };
  write(0, "RIFF");
  view.setUint32(4, HEADER_BYTES - 8 + bytes, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  write(36, "data");
  view.setUint32(40, bytes, true);
  let at = HEADER_BYTES;
  for (const { buffer, byteOffset, byteLength } of pieces) {
    file.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return file;
}
