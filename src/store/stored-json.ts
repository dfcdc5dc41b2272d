/**
 * What a row holds as JSON, taken for what was stored there. It is not checked again: only this folder writes these
 * columns, each from a value of one type, which was checked when it came in or was made here. To check every row would
 * cost more than to read it. Throws `SyntaxError` if the row was damaged.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of its column.
export function storedJson<Stored>(json: string): Stored {
  const value: Stored = JSON.parse(json);
  return value;
}
