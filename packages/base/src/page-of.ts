export interface PageBounds {
  readonly order: "asc" | "desc";
  /** Exclusive cursor: the id of the last element of the previous page. */
  readonly after: string | null;
}

/**
 * The elements of a list from the page's start on, in the page's order; `before` is an exclusive end. Null if a cursor
 * is not in the list.
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
