/** Where a page lies in a list. */
export interface PageBounds {
  readonly order: "asc" | "desc";
  /** Exclusive cursor: the id of the last element of the page before. */
  readonly after: string | null;
}

/**
 * What a list has for a page and those that follow it, in the page's order. Null if a cursor is not in it. `before`
 * ends it before that element.
 */
export function pageOf<Element extends { readonly id: string }>(
  oldestFirst: readonly Element[],
  { order, after }: PageBounds,
  before: string | null,
): readonly Element[] | null {
  const elements = order === "asc" ? oldestFirst : oldestFirst.toReversed();
  const start = after === null ? 0 : elements.findLastIndex(({ id }) => id === after) + 1;
  const end = before === null ? elements.length : elements.findIndex(({ id }) => id === before);
  if ((after !== null && start === 0) || end === -1) return null;
  return elements.slice(start, Math.max(start, end));
}
