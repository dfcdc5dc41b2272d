import { type Node, parseSync, Visitor } from "oxc-parser";
import type { TextFile } from "./text-file.ts";

export const TEXT_KINDS = ["comment", "error", "log"] as const;

/** A text for people. */
export interface FoundText {
  readonly kind: (typeof TEXT_KINDS)[number];
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

type Span = { readonly start: number; readonly end: number };

const LOG = /^#?(log|logger)$/;
const LEVEL = /^(trace|debug|info|warn|error|fatal)$/;
const CATALOGUE = /errors?[.]ts$|\/errors\//;

/**
 * Finds comments, error texts and log lines. Error texts are the arguments of errors and all sentences in error
 * catalogues. Consecutive `//` lines are one comment.
 */
export function findTexts({ path, text: code }: TextFile): FoundText[] {
  const { program, comments } = parseSync(path, code);
  const found: FoundText[] = [];
  const add = (kind: FoundText["kind"], { start, end }: Span): void => {
    const line = code.slice(0, start).split("\n").length;
    found.push({ kind, path, line, text: code.slice(start, end).replaceAll(/\n\s+/g, "\n ") });
  };
  for (const span of joined(comments, code)) add("comment", span);
  const said = new Set<number>();
  const addSentences = (kind: FoundText["kind"], nodes: readonly (Node | null)[]): void => {
    for (const node of nodes.filter(isSentence)) {
      if (!said.has(node.start)) add(kind, node);
      said.add(node.start);
    }
  };
  new Visitor({
    NewExpression: ({ callee, arguments: given }) => {
      if (callee.type === "Identifier" && callee.name.endsWith("Error")) addSentences("error", given);
    },
    CallExpression: ({ callee, arguments: given }) => {
      if (callee.type !== "MemberExpression" || !LEVEL.test(nameOf(callee.property))) return;
      const { object } = callee;
      if (LOG.test(nameOf(object.type === "MemberExpression" ? object.property : object))) addSentences("log", given);
    },
    Literal: (node) => {
      if (CATALOGUE.test(path)) addSentences("error", [node]);
    },
    TemplateLiteral: (node) => {
      if (CATALOGUE.test(path)) addSentences("error", [node]);
    },
  }).visit(program);
  return found;
}

/** Joins comments on consecutive whole lines. */
function joined(comments: readonly (Span & { readonly type: string })[], code: string): Span[] {
  const spans: Span[] = [];
  for (const { type, start, end } of comments) {
    const last = spans.at(-1);
    const follows = type === "Line" && last !== undefined && /^\n[ \t]*$/.test(code.slice(last.end, start));
    if (follows && code.startsWith("//", last.start)) spans[spans.length - 1] = { start: last.start, end };
    else spans.push({ start, end });
  }
  return spans;
}

/** A text of more than one word. */
function isSentence(node: Node | null): node is Node {
  if (node?.type === "TemplateLiteral") return node.quasis.some(({ value }) => value.raw.includes(" "));
  return node?.type === "Literal" && typeof node.value === "string" && node.value.includes(" ");
}

function nameOf(node: Node): string {
  return node.type === "Identifier" || node.type === "PrivateIdentifier" ? node.name : "";
}
