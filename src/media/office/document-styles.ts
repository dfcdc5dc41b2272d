import type { Archive } from "./archive.ts";
import { readXml } from "./read-xml.ts";

const HEADING = /^heading (\d)$/i;

/**
 * The level of each style that is one of headings, by the id that paragraphs name it by. Ids differ by language, names
 * do not.
 */
export async function readHeadingStyles(archive: Archive, part: string): Promise<ReadonlyMap<string, number>> {
  const levels = new Map<string, number>();
  let style = "";
  await readXml(archive, part, {
    opened(name, attributes) {
      if (name === "style") style = attributes["styleId"] ?? "";
      if (name !== "name") return;
      const called = attributes["val"] ?? "";
      if (/^title$/i.test(called)) levels.set(style, 1);
      const level = HEADING.exec(called)?.[1];
      if (level !== undefined) levels.set(style, Number(level));
    },
  });
  return levels;
}
