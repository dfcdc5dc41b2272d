import { assertNever } from "../../../base/assert.ts";
import type { CharacterClass } from "./pattern-class.ts";
import { type Pattern, readPattern } from "./read-pattern.ts";

export interface TextOptions {
  /** Bounds of the length in code points. */
  readonly min: number;
  readonly max: number;
  /** Different numbers give different texts where the pattern allows it. */
  readonly variant: number;
}

const ANY_LENGTH: TextOptions = { min: 0, max: Infinity, variant: 0 };
/** Characters and parts written in one try; a pattern that needs more gets no text. */
const WRITES_MAX = 20_000;
/** The lengths tried for an unlimited repetition, in this order. */
const REPEATS: readonly number[] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, 4096];
const KNOWN_CHARACTERS = Array.from(
  "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ -_.,:;/@#!?+*=()[]{}<>'\"%&$^~|`\\\t\néÉ漢",
);

/** A short text that the regular expression matches as a whole; null if the engine finds none. */
export function writePattern(
  source: string,
  options = ANY_LENGTH,
  budget = { charactersLeft: 100_000 },
): string | null {
  const pattern = readPattern(source);
  if (pattern === null) return null;
  const { min, max, variant } = options;
  for (const repeats of [...REPEATS.slice(variant % 6), 0]) {
    const text = new PatternWriter(repeats, variant, budget).write(pattern);
    const length = text === null ? -1 : Array.from(text).length;
    if (length >= min && length <= max) return text;
  }
  return null;
}

class PatternWriter {
  readonly #repeats: number;
  readonly #budget: { charactersLeft: number };
  #turn: number;
  #left = WRITES_MAX;

  constructor(repeats: number, variant: number, budget: { charactersLeft: number }) {
    this.#repeats = repeats;
    this.#turn = variant;
    this.#budget = budget;
  }

  /** Null if no character fits or the budget is used up. Parts cost too, because there may be many empty ones. */
  write(pattern: Pattern): string | null {
    this.#left -= 1;
    this.#budget.charactersLeft -= 1;
    if (this.#left < 0 || this.#budget.charactersLeft < 0) return null;
    switch (pattern.type) {
      case "class":
        return this.#writeCharacter(pattern);
      case "sequence":
        return this.#writeAll(pattern.parts);
      case "choice":
        return this.#writeAny(pattern.branches);
      case "repeat":
        return this.#writeTimes(pattern.part, Math.min(Math.max(pattern.min, this.#repeats), pattern.max));
      default:
        return assertNever(pattern);
    }
  }

  #writeTimes(part: Pattern, times: number): string | null {
    let text = "";
    for (let time = 0; time < times; time += 1) {
      const written = this.write(part);
      if (written === null) return null;
      text += written;
    }
    return text;
  }

  #writeAll(parts: readonly Pattern[]): string | null {
    let text = "";
    for (const part of parts) {
      const written = this.write(part);
      if (written === null) return null;
      text += written;
    }
    return text;
  }

  #writeAny(branches: readonly Pattern[]): string | null {
    for (const branch of branches) {
      const written = this.write(branch);
      if (written !== null) return written;
    }
    return null;
  }

  /** Takes the next of the fitting characters each time, so that the text is not one repeated character. */
  #writeCharacter(characters: CharacterClass): string | null {
    const fitting = fittingCharacters(characters);
    const character = fitting[this.#turn % fitting.length];
    this.#turn += 1;
    return character ?? null;
  }
}

const known = new WeakMap<CharacterClass, readonly string[]>();

function fittingCharacters(characters: CharacterClass): readonly string[] {
  const before = known.get(characters);
  if (before !== undefined) return before;
  const fitting = [...KNOWN_CHARACTERS, ...characters.samples].filter((character) => characters.admits(character));
  known.set(characters, fitting);
  return fitting;
}
