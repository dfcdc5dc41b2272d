/** One rule. Its `sentence` is printed when it is broken. Patterns match paths from the repository's root. */
export type ImportRule = { readonly name: string; readonly sentence: string } & (
  | { readonly kind: "may-import-only"; readonly from: RegExp; readonly to: RegExp }
  | { readonly kind: "never-imports"; readonly from: RegExp; readonly to: RegExp }
  | { readonly kind: "never-uses"; readonly from: RegExp; readonly use: RegExp }
  | { readonly kind: "ships-what-it-imports"; readonly from: RegExp }
  | { readonly kind: "declares-what-it-imports" }
  | { readonly kind: "never-mixes"; readonly folder: RegExp }
  | { readonly kind: "is-reached"; readonly what: RegExp; readonly roots: RegExp }
  | { readonly kind: "has-no-cycles" }
  | { readonly kind: "has-no-knots"; readonly roots: readonly string[] }
);

export function never(name: string, sentence: string, from: RegExp, to: RegExp): ImportRule {
  return { name, sentence, kind: "never-imports", from, to };
}

/** Matches paths with this start that are neither tests nor fixtures. */
export function product(start: string): RegExp {
  return new RegExp(`^${start}(?!.*[.](test|fixture)[.]ts$)`);
}

/** Matches the files of src/ and packages/ outside these folders that are neither tests nor fixtures. */
export function outside(...folders: readonly string[]): RegExp {
  return product(`(?!(?:${folders.join("|")})/)(?:src|packages)/`);
}

/**
 * A folder may import itself, base and the `allowed` paths. It is named by its path, without a slash at its end. Other
 * rules cover packages of others and Node.
 */
export function folder(name: string, sentence: string, path: string, allowed: readonly string[]): ImportRule {
  const to = new RegExp(`^(${[`${path}/`, "packages/base/src/", ...allowed].join("|")})`);
  return { name, sentence, kind: "may-import-only", from: product(`${path}/`), to };
}
