import { isRecord } from "@antiphon/base/json/records.ts";
import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type CpuLimit, cpuMsFor, type ReadingFailed, readInThread } from "../read-in-thread.ts";
import type { HtmlMode, HtmlOutcome, HtmlTask } from "./html-outcome.ts";

export interface HtmlLimits {
  readonly charactersMax: number;
  /** The time limit of the search for the article, in milliseconds. */
  readonly articleMs: number;
  /** The time limit of extracting the whole text, in milliseconds. */
  readonly wholeMs: number;
  /** The CPU time limit of each; none if absent. */
  readonly cpu?: CpuLimit;
}

const MODULE = new URL("./html-worker.ts", import.meta.url);

/** Reads the text of web pages, each in its own thread, which hostile pages cannot block. */
export class HtmlReader {
  readonly #limits: HtmlLimits;
  readonly #slots: Semaphore;

  constructor(limits: HtmlLimits, slots: Semaphore) {
    this.#limits = limits;
    this.#slots = slots;
  }

  /**
   * The text of a page's article, or of the whole page if no article is found in time. `charset`: from the reply's
   * headers. Rejects with the signal's reason if the signal aborts.
   */
  async read(bytes: Uint8Array, charset: string | null, signal: AbortSignal): Promise<HtmlOutcome | ReadingFailed> {
    const giveBack = await this.#slots.take(signal);
    try {
      const article = await this.#readAs("article", { bytes, charset }, signal);
      return article.type === "text" ? article : await this.#readAs("whole", { bytes, charset }, signal);
    } finally {
      giveBack();
    }
  }

  /** The text of a whole page, with `#` before its headings as in Markdown. Rejects like `read`. */
  async readMarked(bytes: Uint8Array, signal: AbortSignal): Promise<HtmlOutcome | ReadingFailed> {
    const giveBack = await this.#slots.take(signal);
    try {
      return await this.#readAs("marked", { bytes, charset: null }, signal);
    } finally {
      giveBack();
    }
  }

  #readAs(
    mode: HtmlMode,
    page: Pick<HtmlTask, "bytes" | "charset">,
    signal: AbortSignal,
  ): Promise<HtmlOutcome | ReadingFailed> {
    const { charactersMax, articleMs, wholeMs, cpu } = this.#limits;
    const timeoutMs = mode === "article" ? articleMs : wholeMs;
    const cpuMs = cpu === undefined ? undefined : cpuMsFor(cpu, page.bytes.length);
    const task = { ...page, mode, charactersMax };
    return readInThread({ module: MODULE, isOutcome, task, timeoutMs, cpuMs }, signal);
  }
}

function isOutcome(value: unknown): value is HtmlOutcome {
  return isRecord(value) && value["type"] === "text";
}
