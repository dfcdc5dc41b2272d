import type { Voice } from "../ports.ts";

const LINE = /^\s*\d+\s+(?<language>\S+)\s+\S+\s+\S+\s+(?<file>\S+)(?<others>.*)$/;
const OTHER_LANGUAGE = /\((\S+) \d+\)/g;
/** MBROLA voices are listed even if their data is not installed. */
const MBROLA_FILE = /^mb\//;
const VARIANT_FILE = /^!v\/(?<variant>\S+)$/;

/**
 * Reads the table that `espeak-ng --voices` prints. A voice is named by its languages, as on espeak-ng's command line.
 */
export function readVoices(table: string): readonly Voice[] {
  const languages = rowsOf(table)
    .filter(({ file }) => !MBROLA_FILE.test(file))
    .flatMap(({ language, others }) => [language, ...others]);
  return [...new Set(languages)].toSorted().map((language) => ({ name: language, language, variantOf: null }));
}

/**
 * Reads the table that `espeak-ng --voices=variant` prints. A variant changes the sound of any voice, as in `en-us+f3`.
 */
export function readVariants(table: string): readonly string[] {
  return rowsOf(table).flatMap(({ file }) => VARIANT_FILE.exec(file)?.groups?.["variant"] ?? []);
}

interface Row {
  readonly language: string;
  readonly file: string;
  /** Further languages of the voice, such as `fr` besides `fr-fr`. */
  readonly others: readonly string[];
}

function rowsOf(table: string): readonly Row[] {
  return table.split("\n").flatMap((line) => {
    const { language, file, others = "" } = LINE.exec(line)?.groups ?? {};
    if (language === undefined || file === undefined) return [];
    return [{ language, file, others: [...others.matchAll(OTHER_LANGUAGE)].flatMap(([, other]) => other ?? []) }];
  });
}
