const RULE = /^\s*([-*_=]\s*){3,}$/;
const TABLE_RULE = /^[\s|:-]*$/;
const TABLE_ROW = /^\s*\|(.*?)\|?\s*$/;
/** Markdown signs at the start of a line: headings, quotes, bullets, task boxes. */
const LINE_SIGNS = /^\s*(#{1,6}\s+|>+\s?|[-*+•]\s+(\[[ xX]\]\s+)?)*/;

/** Replacements, in the order in which they are applied. */
const INLINE: readonly (readonly [RegExp, string])[] = [
  [/!?\[([^\]\n]*)\]\([^)\s]*(\s+"[^"]*")?\)/g, "$1"], // Links and images keep their text.
  [/\]\(\S*\)/g, ""], // The end of a link, if a sentence ended within it.
  [/\[\^[^\]\s]+\]/g, ""], // Footnote marks.
  [/<(?=https?:)([^>\s]+)>/g, "$1"],
  // URLs keep only their host.
  [/https?:\/\/(?:www\.)?([^\s/?#)\]>"']+)[^\s)\]>"']*/g, "$1"],
  [/<\/?[a-zA-Z][^<>\n]*>/g, " "],
  [/`+/g, ""],
  [/\*+(?=\S)|(?<=\S)\*+/g, ""],
  [/~~/g, ""],
  [/(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, ""],
  [/(?<=[\p{L}\p{N}])_+(?=[\p{L}\p{N}])/gu, " "],
  [/[[\]{}|\\^]/g, " "],
  [/\p{Extended_Pictographic}(\u{FE0F}|\u{200D}\p{Extended_Pictographic}|[\u{1F3FB}-\u{1F3FF}])*/gu, ""],
  [/\u{FE0F}|\u{200D}|\u{20E3}/gu, ""],
];

/** The words of a piece of Markdown, without its signs. Empty if nothing can be spoken. */
export function spokenWords(markdown: string): string {
  const lines = markdown.split("\n").map(lineWords).filter(isSaid);
  const words = lines.reduce((text, line) => (text === "" ? line : `${text}${pauseAfter(text, line)}${line}`), "");
  return isSaid(words) ? words : "";
}

function lineWords(line: string): string {
  if (RULE.test(line) || (line.includes("-") && TABLE_RULE.test(line))) return "";
  const row = TABLE_ROW.exec(line)?.[1];
  let words =
    row === undefined
      ? line.replace(LINE_SIGNS, "")
      : row
          .split("|")
          .map((cell) => cell.trim())
          .join(", ");
  for (const [sign, word] of INLINE) words = words.replaceAll(sign, word);
  return words
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ([.,;:!?])/g, "$1")
    .trim();
}

/** A line that starts in lower case continues the sentence. Before any other line there is a pause. */
function pauseAfter(text: string, line: string): string {
  if (/^\p{Ll}/u.test(line) || /[\p{P}]$/u.test(text)) return " ";
  return ". ";
}

function isSaid(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
