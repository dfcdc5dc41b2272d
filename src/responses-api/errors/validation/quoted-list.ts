/** Lists values as the reference's messages do: `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`. */
export function quotedList(values: readonly string[], conjunction: "and" | "or"): string {
  const quoted = values.map((value) => `'${value}'`);
  if (quoted.length < 3) return quoted.join(` ${conjunction} `);
  return `${quoted.slice(0, -1).join(", ")}, ${conjunction} ${quoted.at(-1)}`;
}
