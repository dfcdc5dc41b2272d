import { writePattern } from "../write-pattern.ts";

/** The terminals of Lark's common library, by a matching text. */
const COMMON_TERMINALS = [
  ["name", "CNAME"],
  ["word", "WORD"],
  ["a", "LETTER", "LCASE_LETTER"],
  ["A", "UCASE_LETTER"],
  ["1", "DIGIT", "HEXDIGIT", "INT", "SIGNED_INT", "NUMBER", "SIGNED_NUMBER"],
  ["1.5", "FLOAT", "SIGNED_FLOAT", "DECIMAL"],
  ['"text"', "ESCAPED_STRING"],
  [" ", "WS", "WS_INLINE"],
  ["\n", "NEWLINE", "LF", "CR"],
] as const;
const GRAMMAR_CHARS_MAX = 20_000;
const SENTENCE_CHARS_MAX = 20_000;
/** Characters read and written for one grammar. A short grammar can describe a huge sentence. */
const WORK_MAX = 200_000;
const RULE = /^\s*[?!]*(_?[A-Za-z]\w*)(?:\.\d+)?\s*:(.*)$/s;
/**
 * An unclosed literal ends with its line. Otherwise, searching for its end from every character would take quadratic
 * time. Of a range of characters or times, the start is a group.
 */
const TOKEN =
  /"((?:[^"\\\n]|\\.)*)"?i?(?:\s*\.\.\s*"(?:[^"\\\n]|\\.)*"?)?|\/((?:[^/\\\n]|\\.)+)\/?[imslux]*|->\s*\w+|~\s*(\d+)(?:\s*\.\.\s*\d+)?|[_A-Za-z]\w*|[()[\]|?*+]/g;
/** A private character before each part of a sentence; it becomes the white space between parts, if there is any. */
const GAP = "\uE000";
const NOTHING_FITS = "[^\\s\\S]";

/** The smallest sentence of a Lark grammar; null if the engine finds none. */
export function writeSentence(definition: string): string | null {
  if (definition.length > GRAMMAR_CHARS_MAX) return null;
  const lines = definition.split("\n").map((line) => line.replace(/^\s*\/\/[^]*$|\s\/\/ [^]*$/, "").trimEnd());
  const sentence = smallestSentences(readRules(lines.filter((line) => !/^\s*%/.test(line)))).get("start");
  const ignoresSpace = lines.some((line) => /^\s*%ignore\s+(?:WS|"\s|\/(?:\S*\\s|\S*\s+\S))/.test(line));
  const parts = sentence?.split(GAP).filter(Boolean);
  return parts?.join(ignoresSpace ? " " : "") ?? null;
}

/** The bodies of rules. A line that is indented or begins with a bar continues the rule before; others are left out. */
function readRules(lines: readonly string[]): ReadonlyMap<string, string> {
  const rules = new Map<string, string>();
  let last = "";
  for (const line of lines) {
    const [, name, body] = RULE.exec(line) ?? [];
    last = name ?? last;
    if (body !== undefined) rules.set(last, body);
    else if (rules.has(last) && /^[\s|]/.test(line)) rules.set(last, `${rules.get(last)} ${line}`);
  }
  return rules;
}

/**
 * Finds a sentence for each rule, from the sentences of other rules, until no more is found. A rule without a finite
 * sentence gets none.
 */
function smallestSentences(rules: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const common = COMMON_TERMINALS.flatMap(([text, ...names]) => names.map((name) => [name, text] as const));
  const sentences = new Map<string, string>(common.filter(([name]) => !rules.has(name)));
  const budget = { charactersLeft: WORK_MAX };
  const writePart = ([token, text, pattern]: RegExpExecArray): string | null | undefined => {
    if (text !== undefined) return unescapeText(text);
    return pattern === undefined ? sentences.get(token) : writePattern(pattern.replaceAll("\\/", "/"), {}, budget);
  };
  for (let found = -1; found < sentences.size; ) {
    found = sentences.size;
    for (const [name, body] of rules) {
      if (sentences.has(name)) continue;
      const pattern = rulePattern(body, name === name.toUpperCase() ? "" : GAP, writePart);
      const text = writePattern(pattern, { repeats: [0] }, budget);
      if (text !== null && text.length <= SENTENCE_CHARS_MAX) sentences.set(name, text);
    }
  }
  return sentences;
}

/** The body of a rule as a regular expression, in which literals and other rules are replaced by their texts. */
function rulePattern(
  body: string,
  gap: string,
  writePart: (token: RegExpExecArray) => string | null | undefined,
): string {
  const tokens = body.matchAll(TOKEN).map((match) => {
    const [token, , , times] = match;
    if (token === "(" || token === "[") return "(?:";
    if (token === "]") return ")?";
    if (/^[)|?*+]/.test(token)) return token;
    if (token.startsWith("->")) return "";
    if (times !== undefined) return `{${times}}`;
    const text = writePart(match) ?? null;
    return `(?:${gap}${text === null ? NOTHING_FITS : RegExp.escape(text)})`;
  });
  return tokens.toArray().join("");
}

function unescapeText(text: string): string {
  const signs: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
  return text.replaceAll(/\\(.)/g, (_, sign: string) => signs[sign] ?? sign);
}
