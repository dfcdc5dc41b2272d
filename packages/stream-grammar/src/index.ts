export type { Dialect } from "./dialect.ts";
export type { StreamReport } from "./fault-list.ts";
export { lintText, TextLinter } from "./framing/lint-text.ts";
export { GRAMMAR_TEXT } from "./grammar.ts";
export { NOTES, RULES } from "./rules.ts";
