import { posix } from "node:path";
import { toText } from "../html/to-text.ts";
import type { Archive } from "./archive.ts";
import { readXml } from "./read-xml.ts";
import type { TextSink } from "./text-sink.ts";

const CONTAINER = "META-INF/container.xml";

/** Whether the archive is a book in the epub format. */
export function isBook(archive: Archive): boolean {
  return archive.has(CONTAINER);
}

/** Writes the text of the chapters in reading order, with `#` before headings. */
export async function readBook(archive: Archive, sink: TextSink): Promise<void> {
  for (const chapter of await readChapters(archive)) {
    const pieces: string[] = [];
    for await (const piece of archive.textOf(chapter)) pieces.push(piece);
    const { text } = toText(pieces.join(""), Number.POSITIVE_INFINITY, true);
    if (text !== "") sink.write(`${text}\n\n`);
  }
}

async function readChapters(archive: Archive): Promise<readonly string[]> {
  let book = "";
  await readXml(archive, CONTAINER, {
    openElement(name, attributes) {
      if (name === "rootfile" && book === "") book = attributes["full-path"] ?? "";
    },
  });
  const files = new Map<string, string>();
  const chapters: string[] = [];
  await readXml(archive, book, {
    openElement(name, { id, href, idref, "media-type": type }) {
      if (name === "item" && id !== undefined && href !== undefined && type?.includes("html") === true)
        files.set(id, posix.join(posix.dirname(book), pathOf(href)));
      const file = name === "itemref" && idref !== undefined ? files.get(idref) : undefined;
      if (file !== undefined) chapters.push(file);
    },
  });
  return chapters;
}

function pathOf(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href; // It was not encoded.
  }
}
