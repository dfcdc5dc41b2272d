/** The right side of a rule in a Lark grammar. */
export type Expansion =
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "pattern"; readonly source: string }
  | { readonly type: "sequence"; readonly parts: readonly Expansion[] }
  | { readonly type: "choice"; readonly branches: readonly Expansion[] };

export interface LarkGrammar {
  readonly rules: ReadonlyMap<string, Expansion>;
  /** Whether white space between tokens is ignored. */
  readonly ignoresSpace: boolean;
}

const GRAMMAR_CHARS_MAX = 20_000;
const RULE_START = /^[?!]*(_?[A-Za-z]\w*)(?:\.\d+)?\s*:(.*)$/s;
/**
 * An unclosed literal ends with its line. Otherwise, searching for its end from every character would take quadratic
 * time.
 */
const TOKEN =
  /"(?:[^"\\\n]|\\.)*"?i?|\/(?:[^/\\\n]|\\.)+\/?[imslux]*|->\s*\w+|~\s*\d+(?:\s*\.\.\s*\d+)?|[_A-Za-z]\w*|\.\.|[()[\]|?*+]/g;

/** Reads the parts that the smallest sentence needs. Null if the grammar is too long or has no `start` rule. */
export function readLarkGrammar(definition: string): LarkGrammar | null {
  if (definition.length > GRAMMAR_CHARS_MAX) return null;
  const rules = new Map<string, Expansion>();
  for (const statement of readStatements(definition)) {
    const [, name, body] = RULE_START.exec(statement) ?? [];
    if (name !== undefined && body !== undefined)
      rules.set(name, new ExpansionReader(body.match(TOKEN) ?? []).readChoice());
  }
  return rules.has("start") ? { rules, ignoresSpace: definition.split("\n").some(ignoresSpaces) } : null;
}

/** Whether a line is an `%ignore` directive for white space. */
function ignoresSpaces(line: string): boolean {
  const [directive, terminal = "", ...more] = line.trim().split(/\s+/, 3);
  if (directive !== "%ignore") return false;
  return (
    terminal.startsWith("WS") ||
    terminal === '"' ||
    (terminal.startsWith("/") && (terminal.includes("\\s") || more.length > 0))
  );
}

/**
 * The lines without comments and directives. A line that is indented or begins with a bar continues the line before.
 */
function readStatements(definition: string): string[] {
  const statements: string[] = [];
  for (const line of definition.split("\n")) {
    const text = line.replace(/^\s*\/\/[^]*$|\s\/\/ [^]*$/, "").trimEnd();
    const isDirective = text.trimStart().startsWith("%");
    const goesOn = !isDirective && (/^\s*\|/.test(text) || (/^\s+\S/.test(text) && !RULE_START.test(text.trim())));
    if (goesOn && statements.length > 0) statements.push(`${statements.pop() ?? ""} ${text.trim()}`);
    else if (text !== "" && !isDirective) statements.push(text.trim());
  }
  return statements;
}

class ExpansionReader {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  readChoice(): Expansion {
    const branches = [this.#readSequence()];
    while (this.#take("|")) branches.push(this.#readSequence());
    return { type: "choice", branches };
  }

  #readSequence(): Expansion {
    const parts: Expansion[] = [];
    for (
      let token = this.#peek();
      token !== "" && token !== "|" && token !== ")" && token !== "]";
      token = this.#peek()
    ) {
      this.#position += 1;
      if (!token.startsWith("->")) parts.push(...this.#repeated(this.#readAtom(token)));
    }
    return { type: "sequence", parts };
  }

  /** Leaves out optional parts, because the smallest sentence is wanted. */
  #repeated(part: Expansion): readonly Expansion[] {
    const token = this.#peek();
    if (token === "?" || token === "*" || token === "+") {
      this.#position += 1;
      return token === "+" ? [part] : [];
    }
    const times = /^~\s*(\d+)/.exec(token)?.[1];
    if (times !== undefined) this.#position += 1;
    return Array.from({ length: Math.min(Number(times ?? 1), 1000) }, () => part);
  }

  #readAtom(token: string): Expansion {
    if (token === "(" || token === "[") {
      const inner = this.readChoice();
      this.#take(token === "(" ? ")" : "]");
      return token === "(" ? inner : { type: "sequence", parts: [] };
    }
    if (token.startsWith('"')) {
      if (this.#take("..")) this.#position += 1; // Of a character range, the first character is used.
      return { type: "text", text: unescapeText(token.slice(1, token.lastIndexOf('"'))) };
    }
    if (token.startsWith("/"))
      return { type: "pattern", source: token.slice(1, token.lastIndexOf("/")).replaceAll("\\/", "/") };
    return { type: "rule", name: token };
  }

  #peek(): string {
    return this.#tokens[this.#position] ?? "";
  }

  #take(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#position += 1;
    return true;
  }
}

function unescapeText(text: string): string {
  const signs: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
  return text.replaceAll(/\\(.)/g, (_, sign: string) => signs[sign] ?? sign);
}
