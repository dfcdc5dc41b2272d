import type { Archive } from "./archive.ts";
import { readXml } from "./read-xml.ts";

/** Ids of the built-in formats that show a number as a date or time. */
const BUILT_IN_DATES: ReadonlySet<number> = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);
/** Quoted, escaped and bracketed text, which does not format the number. */
const DECORATION = /"[^"]*"|\\.|\[[^\]]*\]/g;
const DATE_SIGNS = /[ymdhs]/i;

/** Reads for each cell style whether it shows numbers as dates. */
export async function readDateStyles(archive: Archive, part: string): Promise<readonly boolean[]> {
  const dates = new Set(BUILT_IN_DATES);
  const styles: boolean[] = [];
  let isCellFormats = false;
  await readXml(archive, part, {
    openElement(name, attributes) {
      const id = Number(attributes["numFmtId"]);
      if (name === "numFmt" && DATE_SIGNS.test((attributes["formatCode"] ?? "").replaceAll(DECORATION, "")))
        dates.add(id);
      if (name === "cellXfs") isCellFormats = true;
      if (name === "xf" && isCellFormats) styles.push(dates.has(id));
    },
    closeElement(name) {
      if (name === "cellXfs") isCellFormats = false;
    },
  });
  return styles;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const SECOND_MS = 1000;
/** The start of day numbers. Old Macintosh workbooks count from 1904 instead. */
const FIRST_DAY_MS = Date.UTC(1899, 11, 30);
const FIRST_DAY_1904_MS = Date.UTC(1904, 0, 1);
/** The first day of the year 10000. */
const DAYS_MAX = 2_958_466;

/**
 * Formats a day number as `2026-03-01`, with the time if it is not midnight; below one day, the time alone. Null if it
 * is out of range.
 */
export function shownDate(days: number, since1904: boolean): string | null {
  if (!(days >= 0 && days < DAYS_MAX)) return null;
  const first = since1904 ? FIRST_DAY_1904_MS : FIRST_DAY_MS;
  const date = new Date(first + Math.round((days * DAY_MS) / SECOND_MS) * SECOND_MS).toISOString();
  const day = date.slice(0, 10);
  const time = date.slice(11, 19);
  if (days < 1) return time;
  return time === "00:00:00" ? day : `${day} ${time}`;
}
