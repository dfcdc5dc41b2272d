export type { Dialect } from "./dialect.ts";
export { GRAMMAR_TEXT } from "./grammar.ts";
export { lintText, TextLinter } from "./lint-text.ts";
export { NOTES, RULES } from "./rules.ts";
export type { StreamReport } from "./stream-linter.ts";
