import { shorten } from "../tokens.ts";
import type { Hints } from "./hints.ts";

const SENTENCE_CHARS_MAX = 120;

/** What properties of such names usually hold, as far as the message offers it. The first that is there wins. */
const MEANINGS: readonly (readonly [RegExp, (hints: Hints) => string | undefined])[] = [
  [/e-?mail/i, ({ emails }) => emails[0]],
  [/ur[il]|link|website/i, ({ urls }) => urls[0]],
  [/date|day|deadline/i, ({ dates }) => dates[0]],
  [/city|location|place|town|country|region|address|destination|origin|timezone/i, ({ places }) => places[0]],
  [
    /query|question|prompt|text|message|input|content|request|search|summary|body/i,
    ({ quoted, text }) => quoted[0] ?? whole(text),
  ],
  [/name|title|label|subject|person|who/i, ({ names, quoted }) => names[0] ?? quoted[0]],
];

export function naturalText(name: string, hints: Hints): string {
  if (hints.chosen !== null) return hints.chosen;
  for (const [names, pick] of MEANINGS) {
    const found = names.test(name) ? pick(hints) : undefined;
    if (found !== undefined) return found;
  }
  return hints.series[0] ?? hints.quoted[0] ?? hints.places[0] ?? whole(hints.text) ?? (name === "" ? "text" : name);
}

function whole(text: string): string | undefined {
  return text.trim() === "" ? undefined : shorten(text, SENTENCE_CHARS_MAX);
}
