/** A longer text in brackets is not a marker. In characters. */
export const MARKER_CHARACTERS_MAX = 80;

const NUMBER = String.raw`(?:web|file):\d+`;
const NUMBERS = String.raw`(${NUMBER}(?:\s*[,;]\s*${NUMBER})*)`;
/** The format that models are asked to use. */
const MARKER = new RegExp(String.raw`^【\s*${NUMBERS}\s*(?:†[^】]*)?】$`);
/** The format of labels in tool results. */
const LABEL = new RegExp(String.raw`^\[\s*${NUMBERS}\s*(?:†[^\]]*)?\]$`);
const MARKER_BEGIN = /^[【[]\s*(?:web|file):/;
const LABEL_BEGIN = new RegExp(
  String.raw`^\[\s*(?:${NUMBER}\s*[,;]\s*)*(?:w|we|web|f|fi|fil|file|(?:web|file):|${NUMBER}\s*(?:†[^\]]*)?)?$`,
);
/** Blanks between words that end no line. */
const BLANK = /^[ \u00a0\u202f]$/;

/** The numbers cited by a marker, such as `web:3`; null if the text is not a marker. */
export function numbersOf(text: string): readonly string[] | null {
  const numbers = (MARKER.exec(text) ?? LABEL.exec(text))?.[1];
  return numbers === undefined ? null : numbers.split(/[,;]/).map((number) => number.trim());
}

/** Whether the text is the beginning of a marker and cannot be anything else. */
export function beginsMarker(text: string): boolean {
  return MARKER_BEGIN.test(text);
}

/** Whether the text, which begins with a bracket, may become a marker. */
export function mayBeMarker(text: string): boolean {
  if (isClosed(text)) return numbersOf(text) !== null;
  if (text.length > MARKER_CHARACTERS_MAX || text.endsWith("\n")) return false;
  return text.startsWith("【") || LABEL_BEGIN.test(text);
}

/** Whether the bracket at the beginning is closed at the end. */
export function isClosed(text: string): boolean {
  return text.endsWith(text.startsWith("【") ? "】" : "]");
}

/** Whether a model's text has a marker, so that it may be shown in another form. */
export function hasMarker(text: string): boolean {
  return text.includes("【") || /\[\s*(?:web|file):/.test(text);
}

export function isBlankSign(sign: string): boolean {
  return BLANK.test(sign);
}
