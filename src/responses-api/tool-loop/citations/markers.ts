/** A longer text in brackets is no marker. In characters. */
export const MARKER_CHARACTERS_MAX = 80;

const NUMBER = String.raw`(?:web|file):\d+`;
const NUMBERS = String.raw`(${NUMBER}(?:\s*[,;]\s*${NUMBER})*)`;
/** As models are asked to cite. */
const MARKER = new RegExp(String.raw`^【\s*${NUMBERS}\s*(?:†[^】]*)?】$`);
/** As results of tools are labelled. */
const LABEL = new RegExp(String.raw`^\[\s*${NUMBERS}\s*(?:†[^\]]*)?\]$`);
const MARKER_BEGIN = /^[【[]\s*(?:web|file):/;
const LABEL_BEGIN = new RegExp(
  String.raw`^\[\s*(?:${NUMBER}\s*[,;]\s*)*(?:w|we|web|f|fi|fil|file|(?:web|file):|${NUMBER}\s*(?:†[^\]]*)?)?$`,
);
/** Signs that stand between words and end no line. */
const BLANK = /^[ \u00a0\u202f]$/;

/** The numbers that a marker cites, such as `web:3`; null if the text is no marker. */
export function numbersOf(text: string): readonly string[] | null {
  const numbers = (MARKER.exec(text) ?? LABEL.exec(text))?.[1];
  return numbers === undefined ? null : numbers.split(/[,;]/).map((number) => number.trim());
}

/** Whether the text is the beginning of a marker, too much of one to be anything else. */
export function beginsMarker(text: string): boolean {
  return MARKER_BEGIN.test(text);
}

/** Whether the text, which begins with a bracket, is a marker as far as it goes. */
export function mayBeMarker(text: string): boolean {
  if (isClosed(text)) return numbersOf(text) !== null;
  if (text.length > MARKER_CHARACTERS_MAX || text.endsWith("\n")) return false;
  return text.startsWith("【") || LABEL_BEGIN.test(text);
}

/** Whether the bracket with which the text begins is closed at its end. */
export function isClosed(text: string): boolean {
  return text.endsWith(text.startsWith("【") ? "】" : "]");
}

/** Whether a text of a model has a marker, so that it may be shown in another form. */
export function hasMarker(text: string): boolean {
  return text.includes("【") || /\[\s*(?:web|file):/.test(text);
}

export function isBlankSign(sign: string): boolean {
  return BLANK.test(sign);
}
