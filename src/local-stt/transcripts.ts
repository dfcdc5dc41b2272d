import type { TranscriptFinalMessage } from "../../generated/local-stt/types.ts";

/** What was said on one stream: the texts of its parts, and the finals that are made of them. */
export class Transcripts {
  /** Of the parts since the latest final. */
  #texts: string[] = [];
  #finals: string[] = [];
  #finalsMade = 0;
  /** Parts that finals cover. */
  #covered = 0;
  #endMs = 0;

  /** Parts that are transcribed. */
  get count(): number {
    return this.#covered + this.#texts.length;
  }

  add(text: string): void {
    this.#texts.push(text.trim());
  }

  /** The final of the parts before `partsEnd` that no final covers yet. */
  final(partsEnd: number, endMs: number): Omit<TranscriptFinalMessage, "type"> {
    const text = joined(this.#texts.splice(0, partsEnd - this.#covered));
    this.#covered = partsEnd;
    if (text !== "") this.#finals.push(text);
    const final = {
      text,
      full_text: joined(this.#finals),
      seq: this.#finalsMade,
      start_ms: this.#endMs,
      end_ms: endMs,
    };
    this.#finalsMade += 1;
    this.#endMs = endMs;
    return final;
  }

  /** What is known since the latest final, with a guess at what comes next. */
  partial(guess: string): string {
    return joined([...this.#texts, guess.trim()]);
  }
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" ");
}
