/** The languages that Whisper models know, by their codes. The engine would break off on any other. */
const LANGUAGES: ReadonlySet<string> = new Set(
  (
    "af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja jw ka kk km kn ko la lb ln " +
    "lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh"
  ).split(" "),
);

/** Codes of today that the models know by another. */
const OTHER_CODES: Readonly<Record<string, string>> = { cmn: "zh", fil: "tl", iw: "he", jv: "jw", nb: "no", yue: "zh" };

/** What to ask the engine for. Tags of languages that it does not know are left to its own ears. */
export function engineLanguage(tag: string | null): string {
  const [primary = ""] = tag?.toLowerCase().split("-") ?? [];
  const code = OTHER_CODES[primary] ?? primary;
  return LANGUAGES.has(code) ? code : "auto";
}
