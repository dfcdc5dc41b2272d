/**
 * Words that have a dot within a sentence, in lower case and without that dot. Words that often end a sentence, such as
 * "etc.", are left out.
 */
const ABBREVIATIONS: ReadonlySet<string> = new Set(
  [
    "mr mrs ms dr prof st rev hon gen col sgt capt lt gov sen rep jr sr messrs mx",
    "vs no nos vol fig figs eq sec ch pp cf ca approx est dept univ inc ltd co corp bros al e.g i.e eg ie",
    "jan feb mar apr jun jul aug sep sept oct nov dec",
    "nr bzw z.b d.h u.a usw evtl ggf vgl hr fr str abs bspw inkl zzgl mio mrd sog",
    "m mme mlle mm p.ex c.-à-d sra sres ud uds pág núm dña sig dott",
  ]
    .join(" ")
    .split(" "),
);

const LAST_WORD = /([\p{L}\p{N}.-]+)\.["'”’)\]]*$/u;
/** How many characters at the end of a text are searched; no abbreviation is as long. */
const END_CHARACTERS = 60;
/** Initials, as in "J. R. R. Tolkien". */
const INITIAL = /^(\p{L}\.)*\p{Lu}$/u;
/** Ordinals, as in "3. Oktober" or a list's "1.". Longer numbers, such as years, do end sentences. */
const ORDINAL = /^\d{1,2}$/;

/** Whether the text ends with an abbreviation, so that its last dot does not end a sentence. */
export function endsInAbbreviation(text: string): boolean {
  const word = LAST_WORD.exec(text.trimEnd().slice(-END_CHARACTERS))?.[1];
  if (word === undefined) return false;
  return ABBREVIATIONS.has(word.toLowerCase()) || INITIAL.test(word) || ORDINAL.test(word);
}
