/**
 * One sentence of ARCHITECTURE.md; it is what you read when the rule fires. Patterns match paths from the repository's
 * root.
 */
export type ImportRule = { readonly name: string; readonly sentence: string } & (
  | { readonly kind: "may-import-only"; readonly from: RegExp; readonly to: RegExp }
  | { readonly kind: "never-imports"; readonly from: RegExp; readonly to: RegExp }
  | { readonly kind: "never-uses"; readonly from: RegExp; readonly use: RegExp }
  | { readonly kind: "ships-what-it-imports"; readonly from: RegExp }
  | { readonly kind: "never-mixes"; readonly folder: RegExp }
  | { readonly kind: "is-reached"; readonly what: RegExp; readonly roots: RegExp }
  | { readonly kind: "has-no-cycles" }
);

export function never(name: string, sentence: string, from: RegExp, to: RegExp): ImportRule {
  return { name, sentence, kind: "never-imports", from, to };
}

/** Paths that begin so and are neither a test nor a helper of tests. */
export function product(start: string): RegExp {
  return new RegExp(`^${start}(?!.*[.](test|fixture)[.]ts$)`);
}
