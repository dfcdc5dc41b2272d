import type { Voice } from "../ports.ts";

const LINE = /^\s*\d+\s+(?<language>\S+)\s+\S+\s+(?<name>\S+)\s+(?<file>\S+)/;
/** Voices of MBROLA are listed even where its data is not installed. */
const MBROLA_FILE = /^mb\//;
const VARIANT_FILE = /^!v\/(?<variant>\S+)$/;

/** The voices out of the table that `espeak-ng --voices` prints: each by its language tag, which is how espeak-ng calls it. */
export function readVoices(table: string): readonly Voice[] {
  const voices: Voice[] = [];
  for (const { language, file } of rowsOf(table)) {
    if (!MBROLA_FILE.test(file)) voices.push({ name: language, language, variantOf: null });
  }
  return voices;
}

/** The variants out of the table that `espeak-ng --voices=variant` prints: each changes the sound of any voice, as in `en-us+f3`. */
export function readVariants(table: string): readonly string[] {
  return rowsOf(table).flatMap(({ file }) => VARIANT_FILE.exec(file)?.groups?.["variant"] ?? []);
}

function rowsOf(table: string): readonly { readonly language: string; readonly file: string }[] {
  return table.split("\n").flatMap((line) => {
    const { language, file } = LINE.exec(line)?.groups ?? {};
    return language === undefined || file === undefined ? [] : [{ language, file }];
  });
}
