import type { Voice } from "../ports.ts";

const LINE = /^\s*\d+\s+(?<language>\S+)\s+\S+\s+\S+\s+(?<file>\S+)(?<others>.*)$/;
const OTHER_LANGUAGE = /\((\S+) \d+\)/g;
/** Voices of MBROLA are listed even where its data is not installed. */
const MBROLA_FILE = /^mb\//;
const VARIANT_FILE = /^!v\/(?<variant>\S+)$/;

/**
 * The voices out of the table that `espeak-ng --voices` prints: each by the languages it speaks, which is how espeak-ng
 * calls it.
 */
export function readVoices(table: string): readonly Voice[] {
  const languages = rowsOf(table)
    .filter(({ file }) => !MBROLA_FILE.test(file))
    .flatMap(({ language, others }) => [language, ...others]);
  return [...new Set(languages)].toSorted().map((language) => ({ name: language, language, variantOf: null }));
}

/**
 * The variants out of the table that `espeak-ng --voices=variant` prints: each changes the sound of any voice, as in
 * `en-us+f3`.
 */
export function readVariants(table: string): readonly string[] {
  return rowsOf(table).flatMap(({ file }) => VARIANT_FILE.exec(file)?.groups?.["variant"] ?? []);
}

interface Row {
  readonly language: string;
  readonly file: string;
  /** Languages that it speaks as well, such as `fr` beside `fr-fr`. */
  readonly others: readonly string[];
}

function rowsOf(table: string): readonly Row[] {
  return table.split("\n").flatMap((line) => {
    const { language, file, others = "" } = LINE.exec(line)?.groups ?? {};
    if (language === undefined || file === undefined) return [];
    return [{ language, file, others: [...others.matchAll(OTHER_LANGUAGE)].flatMap(([, other]) => other ?? []) }];
  });
}
