/** Lists values as the reference's messages do: `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`. */
export function quotedList(values: readonly string[], conjunction: "and" | "or"): string {
  const quotes = values.map((value) => `'${value}'`);
  if (quotes.length < 3) return quotes.join(` ${conjunction} `);
  return `${quotes.slice(0, -1).join(", ")}, ${conjunction} ${quotes.at(-1)}`;
}
