/** Stands between the texts of two messages of one response, and between two pieces of reasoning. */
export const TEXT_BREAK = "\n\n";
export const BREAK_JSON = JSON.stringify(TEXT_BREAK);
export const EMPTY_JSON = '""';

/** Events that begin a part of an item. */
export const PART_TYPES: ReadonlySet<string> = new Set([
  "response.content_part.added",
  "response.reasoning_summary_part.added",
]);
