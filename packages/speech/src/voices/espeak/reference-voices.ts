/** The reference's voices and the espeak-ng variant that replaces each; null for the plain voice. */
export const REFERENCE_VOICES: ReadonlyMap<string, string | null> = new Map([
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

/**
 * The espeak-ng voice for a requested name. A reference voice gets the language of the default voice; other names are
 * returned unchanged.
 */
export function voiceFor(name: string, defaultVoice: string | null): string {
  const variant = REFERENCE_VOICES.get(name);
  if (variant === undefined) return name;
  const [language = ""] =
    defaultVoice === null || REFERENCE_VOICES.has(defaultVoice) ? [LANGUAGE_DEFAULT] : defaultVoice.split("+");
  return variant === null ? language : `${language}+${variant}`;
}
