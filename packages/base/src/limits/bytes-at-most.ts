/** Yields the same bytes. Throws the error of `tooMany` before yielding more than `bytesMax`. */
export async function* bytesAtMost(
  content: AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooMany: () => Error,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > bytesMax) throw tooMany();
    yield piece;
  }
}
