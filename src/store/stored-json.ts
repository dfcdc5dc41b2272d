/**
 * Parses a JSON column without checking its type. Only this folder writes these columns, each from values of one type
 * that were validated or made by us, and checking every row would cost more than reading it. Throws `SyntaxError` if
 * the row is damaged.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of its column.
export function storedJson<Stored>(json: string): Stored {
  const value: Stored = JSON.parse(json);
  return value;
}
