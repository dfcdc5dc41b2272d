import type { TranscriptFinalMessage } from "@antiphon/contracts/local-stt/types.ts";

interface Part {
  readonly text: string;
  readonly language: string | null;
}

/** Enough context to continue a sentence, but little text that the engine could repeat by mistake. */
const TAIL_CHARACTERS_MAX = 200;
/** The end of a sentence, with closing quotes or brackets. */
const SENTENCE_END = /[.?!。？！][\p{Pe}\p{Pf}"']*$/u;

/** The transcript of one stream: the texts of its parts, and the finals made of them. */
export class Transcripts {
  /** The parts since the latest final. */
  #parts: Part[] = [];
  /** The end of the text so far. */
  #tail = "";
  #finals: string[] = [];
  #finalsMade = 0;
  /** The number of parts covered by finals. */
  #coveredCount = 0;
  #endMs = 0;

  /** The number of transcribed parts. */
  get count(): number {
    return this.#coveredCount + this.#parts.length;
  }

  add(text: string, language: string | null): void {
    this.#parts.push({ text: text.trim(), language });
    this.#tail = tailOf(joinTexts([this.#tail, text.trim()]));
  }

  /**
   * The last words of the stream as a prompt for the engine, if they end within a sentence. After a complete sentence
   * they mislead the engine more than they help.
   */
  get tail(): string | null {
    return this.#tail === "" || SENTENCE_END.test(this.#tail) ? null : this.#tail;
  }

  /** Makes the final of the parts before `partsEnd` that no final covers yet. */
  final(partsEnd: number, endMs: number): Omit<TranscriptFinalMessage, "type"> {
    const parts = this.#parts.splice(0, partsEnd - this.#coveredCount).filter((part) => part.text !== "");
    const text = joinTexts(parts.map((part) => part.text));
    const language = parts.find((part) => part.language !== null)?.language ?? null;
    this.#coveredCount = partsEnd;
    if (text !== "") this.#finals.push(text);
    const final = {
      text,
      full_text: joinTexts(this.#finals),
      ...(language === null ? {} : { language }),
      seq: this.#finalsMade,
      start_ms: this.#endMs,
      end_ms: endMs,
    };
    this.#finalsMade += 1;
    this.#endMs = endMs;
    return final;
  }

  /** The text since the latest final, with a guess at the words that are being spoken. */
  partial(guess: string): string {
    return joinTexts([...this.#parts.map((part) => part.text), guess.trim()]);
  }
}

/** Starts at a whole word. */
function tailOf(text: string): string {
  if (text.length <= TAIL_CHARACTERS_MAX) return text;
  const end = text.slice(-TAIL_CHARACTERS_MAX);
  return end.slice(end.indexOf(" ") + 1);
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" ");
}
