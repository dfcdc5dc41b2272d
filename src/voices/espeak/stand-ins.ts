/** The names of the reference's voices, and the variant of espeak-ng that speaks for each; null: the plain voice. */
export const STAND_INS: ReadonlyMap<string, string | null> = new Map([
  ["alloy", null],
  ["ash", "m1"],
  ["ballad", "m2"],
  ["cedar", "m3"],
  ["coral", "f1"],
  ["echo", "m4"],
  ["fable", "m5"],
  ["marin", "f5"],
  ["nova", "f2"],
  ["onyx", "m7"],
  ["sage", "f3"],
  ["shimmer", "f4"],
  ["verse", "m6"],
]);

const LANGUAGE_DEFAULT = "en";

/** The voice that speaks for `name`, in the language of the usual voice; a name of espeak-ng's own stays. */
export function voiceFor(name: string, usual: string | null): string {
  const variant = STAND_INS.get(name);
  if (variant === undefined) return name;
  const [language = ""] = usual === null || STAND_INS.has(usual) ? [LANGUAGE_DEFAULT] : usual.split("+");
  return variant === null ? language : `${language}+${variant}`;
}
