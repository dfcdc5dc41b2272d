import { SaxesParser } from "saxes";
import type { Archive } from "./archive.ts";
import { ReadingEnded } from "./office-outcome.ts";

/** Limit of nested elements; the parser keeps each open one in memory. */
const DEPTH_MAX = 500;

/**
 * Receives the events of an XML file in order. Names come without their namespace prefix, because files choose their
 * own prefixes.
 */
export interface XmlListener {
  openElement?(name: string, attributes: Readonly<Record<string, string>>): void;
  closeElement?(name: string): void;
  /** The whole text between two tags. */
  text?(text: string): void;
}

/**
 * Parses an XML file while it is unpacked. Entities that the document defines are not expanded. Throws `ReadingEnded`.
 */
export async function readXml(archive: Archive, name: string, listener: XmlListener): Promise<void> {
  const parser = new SaxesParser({ fragment: false });
  let depth = 0;
  parser.on("opentag", (tag) => {
    depth += 1;
    if (depth > DEPTH_MAX) throw new ReadingEnded("too_costly");
    const attributes = Object.entries(tag.attributes).map(([key, value]) => [bare(key), String(value)]);
    listener.openElement?.(bare(tag.name), Object.fromEntries(attributes));
  });
  parser.on("closetag", (tag) => {
    depth -= 1;
    listener.closeElement?.(bare(tag.name));
  });
  parser.on("text", (text) => listener.text?.(text));
  parser.on("error", () => {
    throw new ReadingEnded("broken");
  });
  for await (const text of archive.textOf(name)) parser.write(text);
  parser.close();
}

function bare(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
