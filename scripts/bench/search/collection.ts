import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * The folder of the collection, which was written for this bench. Each file holds one language: a passage is a number
 * and its text; a question names the passages that answer it, with grade 2, or 1 after a slash for those that help.
 */
const FOLDER = join(import.meta.dirname, "collection");

export interface JudgedPassage {
  /** Unique in the collection. */
  readonly id: string;
  readonly text: string;
}

export interface JudgedQuestion {
  readonly language: string;
  readonly text: string;
  /** How well the passages with these ids answer it. Those that are missing do not. */
  readonly grades: ReadonlyMap<string, number>;
}

export interface Collection {
  readonly passages: readonly JudgedPassage[];
  readonly questions: readonly JudgedQuestion[];
}

export function readCollection(): Collection {
  const passages: JudgedPassage[] = [];
  const questions: JudgedQuestion[] = [];
  for (const name of readdirSync(FOLDER)) {
    const language = basename(name, ".txt");
    for (const line of readFileSync(join(FOLDER, name), "utf8").trim().split("\n")) {
      const [first = "", rest = ""] = splitOnce(line, " ");
      if (first === "?") questions.push(questionOf(language, rest));
      else passages.push({ id: `${language} ${first}`, text: rest });
    }
  }
  const known = new Set(passages.map(({ id }) => id));
  for (const { text, grades } of questions)
    for (const id of grades.keys()) if (!known.has(id)) throw new Error(`${text}: there is no passage ${id}`);
  return { passages, questions };
}

function questionOf(language: string, line: string): JudgedQuestion {
  const [text = "", judged = ""] = splitOnce(line, " => ");
  const grades = judged.split(" ").map((one): [string, number] => {
    const [number, grade = "2"] = one.split("/");
    return [`${language} ${number}`, Number(grade)];
  });
  return { language, text, grades: new Map(grades) };
}

function splitOnce(text: string, by: string): readonly string[] {
  const place = text.indexOf(by);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + by.length)];
}

/** How many results count. */
export const DEPTH = 10;

/** nDCG@10 of one ranking, best first: gains are 2^grade - 1. */
export function gainOf(ranking: readonly string[], { grades }: JudgedQuestion): number {
  const ideal = [...grades.values()].toSorted((one, other) => other - one);
  return discounted(ranking.map((id) => grades.get(id) ?? 0)) / discounted(ideal);
}

function discounted(grades: readonly number[]): number {
  return grades.slice(0, DEPTH).reduce((sum, grade, place) => sum + (2 ** grade - 1) / Math.log2(place + 2), 0);
}

/** The share of the judged passages that are among the first ten. */
export function recallOf(ranking: readonly string[], { grades }: JudgedQuestion): number {
  return ranking.slice(0, DEPTH).filter((id) => grades.has(id)).length / grades.size;
}
