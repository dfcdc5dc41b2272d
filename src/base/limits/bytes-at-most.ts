/** The same bytes. Throws what `tooMany` makes before it gives out more than `bytesMax`. */
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
