import { SaxesParser } from "saxes";
import type { Archive } from "./archive.ts";
import { ReadingEnded } from "./office-outcome.ts";

/** Elements in elements. Each is kept until it ends. */
const DEPTH_MAX = 500;

/** What is heard of a file of XML, in its order. Names come without their prefix: files choose their own. */
export interface XmlListener {
  opened?(name: string, attributes: Readonly<Record<string, string>>): void;
  closed?(name: string): void;
  /** Text between two marks, whole. */
  text?(text: string): void;
}

/** Tells what a file holds while it is unpacked. Entities of the document's own are not known, and so not expanded. */
export async function readXml(archive: Archive, name: string, listener: XmlListener): Promise<void> {
  const parser = new SaxesParser({ fragment: false });
  let depth = 0;
  parser.on("opentag", (tag) => {
    depth += 1;
    if (depth > DEPTH_MAX) throw new ReadingEnded("too_costly");
    const attributes = Object.entries(tag.attributes).map(([key, value]) => [bare(key), String(value)]);
    listener.opened?.(bare(tag.name), Object.fromEntries(attributes));
  });
  parser.on("closetag", (tag) => {
    depth -= 1;
    listener.closed?.(bare(tag.name));
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
