/** Yields the data of each server-sent event of a reply. Throws when the connection breaks. */
export async function* sseData({ body }: Response): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of (body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const lines = frame.split("\n").filter((line) => line.startsWith(DATA));
      if (lines.length > 0) yield lines.map((line) => line.slice(DATA.length)).join("\n");
    }
  }
}

const DATA = "data: ";
