/** The codes of the languages that Whisper models know. The engine aborts on any other code. */
const LANGUAGES: ReadonlySet<string> = new Set(
  (
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja jw ka kk km kn ko la lb ln " +
    "lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh"
  ).split(" "),
);

/** Current codes whose language the models know by another code. */
const OTHER_CODES: Readonly<Record<string, string>> = { cmn: "zh", fil: "tl", iw: "he", jv: "jw", nb: "no", yue: "zh" };

/** The engine's code for detecting the language. */
export const ANY_LANGUAGE = "auto";

/** The engine's code for a BCP 47 tag; `auto` for null and for languages that the engine does not know. */
export function engineLanguage(tag: string | null): string {
  return (tag === null ? null : codeOf(tag)) ?? ANY_LANGUAGE;
}

/** Whether a multilingual model, or an English-only model, knows the language of a BCP 47 tag. */
export function isKnownLanguage(tag: string, isMultilingual: boolean): boolean {
  const code = codeOf(tag);
  return isMultilingual ? code !== null : code === "en";
}

function codeOf(tag: string): string | null {
  const [primary = ""] = tag.toLowerCase().split("-");
  const code = OTHER_CODES[primary] ?? primary;
  return LANGUAGES.has(code) ? code : null;
}

/** The engine's names of languages that `Intl` names differently. */
const ENGINE_NAMES = { bengali: "bn", maori: "mi", myanmar: "my", nynorsk: "nn", tagalog: "tl" } as const;

const ENGLISH_NAMES = new Intl.DisplayNames("en", { type: "language" });

const CODES_BY_NAME: ReadonlyMap<string, string> = new Map([
  ...[...LANGUAGES].map((code) => [ENGLISH_NAMES.of(code)?.toLowerCase() ?? code, code] as const),
  ...Object.entries(ENGINE_NAMES),
]);

/** The code of a language from the engine's lowercase English name; null if the name is unknown. */
export function languageCode(name: string | null): string | null {
  return name === null ? null : (CODES_BY_NAME.get(name) ?? null);
}
