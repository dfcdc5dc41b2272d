import { franc } from "franc";
import { ENGLISH, loadForms, STEMMED_LANGUAGES, type WordForms } from "./word-forms.ts";
import { lettersOf } from "./words.ts";

/** The library looks at no more than 2,048 characters, so parts of a text stand for it. */
const PART_CHARACTERS = 680;
const PARTS = 3;
/** The least share of stop words in a text of sentences. Tables, code and lists of names have fewer. */
const STOP_WORDS_SHARE_MIN = 0.05;
/** Texts in other languages have half as many English stop words at most. The library takes several times as long. */
const ENGLISH_SHARE_MIN = 0.25;

/** The forms of the language that most of a text is written in; English if it is no text of sentences. */
export async function formsOfText(text: string): Promise<WordForms> {
  const sample = sampleOf(text);
  const letters = [...lettersOf(sample)];
  const english = await loadForms(ENGLISH);
  if (stopWordsShare(letters, english) >= ENGLISH_SHARE_MIN) return english;
  const language = franc(sample, { only: [...STEMMED_LANGUAGES], minLength: 1 });
  if (language === ENGLISH || !STEMMED_LANGUAGES.includes(language)) return english;
  const forms = await loadForms(language);
  return stopWordsShare(letters, forms) >= STOP_WORDS_SHARE_MIN ? forms : english;
}

function stopWordsShare(letters: readonly string[], forms: WordForms): number {
  return letters.filter((word) => forms.isStopWord(word)).length / Math.max(1, letters.length);
}

/** The beginning of a text, and parts from its middle and its end. */
function sampleOf(text: string): string {
  if (text.length <= PART_CHARACTERS * PARTS) return text;
  const starts = Array.from({ length: PARTS }, (_, part) =>
    Math.floor(((text.length - PART_CHARACTERS) * part) / (PARTS - 1)),
  );
  return starts.map((start) => text.slice(start, start + PART_CHARACTERS)).join("\n");
}
