import { Slices } from "@antiphon/base/limits/slices.ts";
import type { ChunkQuestion } from "../ports/search.ts";
import { ENGLISH, loadForms, type WordForms } from "./word-forms.ts";
import { lettersOf } from "./words.ts";

/** The maximum words of a question: each costs index lookups. */
const QUESTION_WORDS_MAX = 64;
/** The maximum different words that are read: some of them say nothing. */
const READ_WORDS_MAX = 256;

/**
 * The words of a question, each in its forms by the languages of the searched files, which differ. Stop words are
 * apart, unless it has no others. English forms are always among them: files are indexed by these if their language is
 * unknown or has no stemmer.
 */
export async function questionWords(
  question: string,
  languages: readonly string[],
): Promise<Pick<ChunkQuestion, "words" | "stopWords">> {
  const allForms = await Promise.all([...new Set([ENGLISH, ...languages])].map(loadForms));
  const letters = await firstLetters(question);
  const sayingLetters = withoutStopWords(letters, allForms);
  if (sayingLetters.length === 0) return { words: formsOfEach(letters, allForms), stopWords: [] };
  const stopLetters = letters.filter((word) => !sayingLetters.includes(word));
  return { words: formsOfEach(sayingLetters, allForms), stopWords: formsOfEach(stopLetters, allForms) };
}

function formsOfEach(letters: readonly string[], allForms: readonly WordForms[]): ChunkQuestion["words"] {
  const words = new Map<string, readonly string[]>();
  for (const word of letters) {
    const forms = [...new Set(allForms.map((ofLanguage) => ofLanguage.formOf(word)))].filter((form) => form !== "");
    if (forms.length > 0) words.set(forms.join(" "), forms);
    if (words.size === QUESTION_WORDS_MAX) break;
  }
  return [...words.values()];
}

/** The first words as they are written, without duplicates. Other requests are served during a long question. */
async function firstLetters(question: string): Promise<readonly string[]> {
  const slices = new Slices();
  const letters = new Set<string>();
  for (const word of lettersOf(question)) {
    letters.add(word);
    if (letters.size === READ_WORDS_MAX) break;
    if (slices.isOver) await slices.next();
  }
  return [...letters];
}

/** A question is in the languages that have the most of its words as stop words. */
function withoutStopWords(letters: readonly string[], allForms: readonly WordForms[]): readonly string[] {
  const counts = allForms.map((forms) => letters.filter((word) => forms.isStopWord(word)).length);
  const most = Math.max(...counts);
  if (most === 0) return letters;
  const ofQuestion = allForms.filter((_, index) => counts[index] === most);
  return letters.filter((word) => !ofQuestion.some((forms) => forms.isStopWord(word)));
}
