import { stemmer as stemEnglish } from "stemmer";

/**
 * The forms of words in one language. A form consists of letters, numbers and marks only, in lower case and without
 * accents, so that no index changes it; a final sigma is written like any other.
 */
export interface WordForms {
  /** ISO 639-3. */
  readonly language: string;
  /** The stem of a word, by which all of its forms are found. Empty if the letters are not a word. */
  formOf(letters: string): string;
  /** Whether the word is so frequent that it says nothing about a text. */
  isStopWord(letters: string): boolean;
}

/** The language of texts whose own language is unknown or has no stemmer. */
export const ENGLISH = "eng";

type Stemmer = (word: string) => string;

interface LanguageModules {
  readonly stemmer: () => Promise<{ readonly stemmer: Stemmer }>;
  readonly stopWords: () => Promise<{ readonly stopwords: readonly string[] }>;
}

/** The languages with stemmers, by their codes in ISO 639-3. */
const LANGUAGES: Readonly<Record<string, LanguageModules>> = {
  [ENGLISH]: {
    stemmer: async () => ({ stemmer: stemEnglish }),
    stopWords: () => import("@orama/stopwords/english"),
  },
  dan: { stemmer: () => import("@orama/stemmers/danish"), stopWords: () => import("@orama/stopwords/danish") },
  deu: { stemmer: () => import("@orama/stemmers/german"), stopWords: () => import("@orama/stopwords/german") },
  fin: { stemmer: () => import("@orama/stemmers/finnish"), stopWords: () => import("@orama/stopwords/finnish") },
  fra: { stemmer: () => import("@orama/stemmers/french"), stopWords: () => import("@orama/stopwords/french") },
  hun: { stemmer: () => import("@orama/stemmers/hungarian"), stopWords: () => import("@orama/stopwords/hungarian") },
  ita: { stemmer: () => import("@orama/stemmers/italian"), stopWords: () => import("@orama/stopwords/italian") },
  nld: { stemmer: () => import("@orama/stemmers/dutch"), stopWords: () => import("@orama/stopwords/dutch") },
  nob: { stemmer: () => import("@orama/stemmers/norwegian"), stopWords: () => import("@orama/stopwords/norwegian") },
  por: { stemmer: () => import("@orama/stemmers/portuguese"), stopWords: () => import("@orama/stopwords/portuguese") },
  ron: { stemmer: () => import("@orama/stemmers/romanian"), stopWords: () => import("@orama/stopwords/romanian") },
  rus: { stemmer: () => import("@orama/stemmers/russian"), stopWords: () => import("@orama/stopwords/russian") },
  spa: { stemmer: () => import("@orama/stemmers/spanish"), stopWords: () => import("@orama/stopwords/spanish") },
  swe: { stemmer: () => import("@orama/stemmers/swedish"), stopWords: () => import("@orama/stopwords/swedish") },
  tur: { stemmer: () => import("@orama/stemmers/turkish"), stopWords: () => import("@orama/stopwords/turkish") },
};

export const STEMMED_LANGUAGES: readonly string[] = Object.keys(LANGUAGES);

const loadedForms = new Map<string, Promise<WordForms>>();

/** The forms of this language, or English ones if it has no stemmer here. */
export function loadForms(language: string): Promise<WordForms> {
  const known = Object.hasOwn(LANGUAGES, language) ? language : ENGLISH;
  const forms = loadedForms.get(known) ?? readForms(known);
  loadedForms.set(known, forms);
  return forms;
}

async function readForms(language: string): Promise<WordForms> {
  const modules = LANGUAGES[language];
  if (modules === undefined) throw new RangeError(`${language} has no stemmer`);
  const { stemmer } = await modules.stemmer();
  const { stopwords } = await modules.stopWords();
  return new StemmedForms(language, stemmer, stopwords);
}

/** The maximum words whose forms are remembered: texts repeat most of their words. */
const REMEMBERED_MAX = 50_000;
/** Longer strings are not words, such as encoded data. */
const WORD_LENGTH_MAX = 64;
/** Accents of Latin, Greek and Cyrillic letters. The marks of other scripts are part of their words. */
const ACCENTS = /[\u0300-\u036f]/g;
/** Some compatibility characters decompose into letters and blanks or dots. */
const NO_LETTERS = /[^\p{L}\p{N}\p{M}]+/gu;
/** What folding does not change. */
const FOLDED = /^[a-z0-9]{1,64}$/;
const HALF_CHARACTER = /[\ud800-\udbff]$/;
const ENGLISH_WORD = /^[a-z]{3,}$/;
const ANY_WORD = /^\p{L}{3,}$/u;
/** Endings that are often typed without their accents, which the stemmers need. */
const ENDINGS: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  spa: [[/ion$/, "ión"]],
  por: [
    [/cao$/, "ção"],
    [/coes$/, "ções"],
  ],
};

class StemmedForms implements WordForms {
  readonly language: string;
  readonly #stem: Stemmer;
  readonly #stopWords: ReadonlySet<string>;
  readonly #forms = new Map<string, string>();

  constructor(language: string, stem: Stemmer, stopWords: readonly string[]) {
    this.language = language;
    this.#stem = stem;
    this.#stopWords = new Set(stopWords.map((word) => foldWord(word)));
  }

  formOf(letters: string): string {
    const remembered = this.#forms.get(letters);
    if (remembered !== undefined) return remembered;
    const form = this.#readForm(letters);
    if (letters.length > WORD_LENGTH_MAX) return form;
    if (this.#forms.size >= REMEMBERED_MAX) this.#forms.clear();
    this.#forms.set(letters, form);
    return form;
  }

  isStopWord(letters: string): boolean {
    return this.#stopWords.has(foldWord(letters));
  }

  /** Other languages than English are stemmed with their accents, by which endings differ. */
  #readForm(letters: string): string {
    if (this.language === ENGLISH) {
      const word = foldWord(letters);
      return ENGLISH_WORD.test(word) ? this.#stem(word) : word;
    }
    const word = letters.normalize("NFKC").toLowerCase().slice(0, WORD_LENGTH_MAX);
    if (!ANY_WORD.test(word)) return foldWord(letters);
    const accented = (ENDINGS[this.language] ?? []).reduce((text, [end, by]) => text.replace(end, by), word);
    return foldWord(this.#stem(accented)) || foldWord(letters);
  }
}

/** The word in lower case without accents. Empty if the letters are not a word. */
function foldWord(letters: string): string {
  if (FOLDED.test(letters)) return letters;
  const plain = letters.normalize("NFKD").replace(ACCENTS, "").replace(NO_LETTERS, "").normalize("NFC").toLowerCase();
  return plain.replaceAll("ς", "σ").slice(0, WORD_LENGTH_MAX).replace(HALF_CHARACTER, "");
}
