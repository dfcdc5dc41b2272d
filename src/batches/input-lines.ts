const LINE_FEED = 0x0a;

/** A line that is longer than allowed. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";
  readonly line: number;

  constructor(line: number) {
    super(`line ${line} is too long`);
    this.line = line;
  }
}

export interface TextLine {
  /** From 1; blank lines count. */
  readonly line: number;
  readonly text: string;
}

/**
 * The lines of a text in UTF-8 that are not blank. A last line without a line end counts. Throws a `LineTooLong`, and a
 * `TypeError` for bytes that are no UTF-8.
 */
export async function* inputLines(content: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<TextLine> {
  const decoder = new TextDecoder("utf-8", { fatal: true }); // Leaves out a byte order mark.
  let pieces: Uint8Array[] = []; // Of the unfinished line.
  let begunBytes = 0;
  let line = 1;
  const take = (piece: Uint8Array): void => {
    pieces.push(piece);
    begunBytes += piece.length;
    if (begunBytes > bytesMax) throw new LineTooLong(line);
  };
  const finish = (): TextLine => {
    const text = decoder.decode(Buffer.concat(pieces));
    [pieces, begunBytes] = [[], 0];
    return { line: line++, text };
  };
  for await (const chunk of content) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, end));
      start = end + 1;
      const whole = finish();
      if (whole.text.trim() !== "") yield whole;
    }
    take(chunk.subarray(start));
  }
  const last = finish();
  if (last.text.trim() !== "") yield last;
}
