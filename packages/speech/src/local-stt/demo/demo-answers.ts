import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import type { DemoChatDone, DemoChatLine } from "@antiphon/contracts/local-stt/types.ts";
import { answerOfOtherMessages, answerStopped, answerTooLong, tooManyAnswers } from "../errors.ts";

/** The maximum of named answers. The oldest complete one is removed for a new one. */
const ANSWERS_MAX = 16;
const ANSWER_CHARACTERS_MAX = 1_000_000;

export interface DemoAnswerTimes {
  /** How long an answer continues without a reader. */
  readonly aloneMs: number;
  /** How long a complete answer is kept. */
  readonly keptMs: number;
}

const USUAL_TIMES: DemoAnswerTimes = { aloneMs: 60_000, keptMs: 600_000 };

type Begin = (signal: AbortSignal) => AsyncIterable<DemoChatLine>;

/** Answers of the demo chat that outlive their requests. They are in memory only, and limited. */
export class DemoAnswers {
  readonly #answers = new Map<string, DemoAnswer>();
  readonly #times: DemoAnswerTimes;

  constructor(times: DemoAnswerTimes = USUAL_TIMES) {
    this.#times = times;
  }

  /**
   * The answer of this name, or a new one. `messages`: the request, as JSON. Throws the errors of Interface B if the
   * name belongs to other messages, or if there are too many answers.
   */
  take(name: string, messages: string, begin: Begin): DemoAnswer {
    const earlier = this.#answers.get(name);
    if (earlier !== undefined && earlier.messages !== messages) throw answerOfOtherMessages();
    if (earlier !== undefined) return earlier;
    this.#makeRoom();
    const forget = (): void => this.#forget(name, answer);
    const answer = new DemoAnswer(messages, this.#times, forget);
    this.#answers.set(name, answer);
    void answer.write(begin);
    return answer;
  }

  /** Stops and forgets an answer, if there is one. */
  stop(name: string): void {
    this.#answers.get(name)?.stop();
  }

  /** Stops and forgets all answers. */
  close(): void {
    for (const answer of this.#answers.values()) answer.stop();
  }

  #makeRoom(): void {
    if (this.#answers.size < ANSWERS_MAX) return;
    const complete = this.#answers.values().find(({ isComplete }) => isComplete);
    if (complete === undefined) throw tooManyAnswers(ANSWERS_MAX);
    complete.stop();
  }

  #forget(name: string, answer: DemoAnswer): void {
    if (this.#answers.get(name) === answer) this.#answers.delete(name);
  }
}

/** One answer and its readers. */
export class DemoAnswer {
  readonly messages: string;
  readonly #times: DemoAnswerTimes;
  readonly #forget: () => void;
  readonly #stopping = new AbortController();
  #text = "";
  #doneMessage: DemoChatDone | null = null;
  #failure: { readonly error: unknown } | null = null;
  #readers = 0;
  #timer: NodeJS.Timeout | undefined;
  #news = Promise.withResolvers<void>();

  constructor(messages: string, times: DemoAnswerTimes, forget: () => void) {
    this.messages = messages;
    this.#times = times;
    this.#forget = forget;
  }

  get isComplete(): boolean {
    return this.#doneMessage !== null;
  }

  /** Reads the lines of the provider until they end. Never rejects: readers get the error. */
  async write(begin: Begin): Promise<void> {
    this.#wait();
    try {
      for await (const line of begin(this.#stopping.signal)) this.#add(line);
    } catch (error) {
      this.#fail(error);
    }
    if (this.#doneMessage === null) this.#fail(answerStopped());
    else this.#wait();
  }

  /** Yields the answer from its beginning; existing text comes at once. Throws the error that ended it. */
  async *read(signal: AbortSignal): AsyncGenerator<DemoChatLine> {
    this.#readers += 1;
    try {
      for (let offset = 0; ; ) {
        signal.throwIfAborted();
        const { promise: news } = this.#news;
        const text = this.#text.slice(offset);
        offset += text.length;
        if (text !== "") yield { type: "chat.delta", text };
        else if (this.#failure !== null) throw this.#failure.error;
        else if (this.#doneMessage === null) await unlessAborted(news, signal);
        else {
          yield this.#doneMessage;
          return;
        }
      }
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) this.#wait();
    }
  }

  stop(): void {
    this.#stopping.abort(answerStopped());
    clearTimeout(this.#timer);
    this.#forget();
  }

  #add(line: DemoChatLine): void {
    if (line.type === "chat.delta") this.#text += line.text;
    if (line.type === "chat.done") this.#doneMessage = line;
    if (this.#text.length > ANSWER_CHARACTERS_MAX) throw answerTooLong(ANSWER_CHARACTERS_MAX);
    this.#tell();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#tell();
    this.stop();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Forgets the answer after its time, if it has no readers then. The time restarts when the last reader leaves. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    const { aloneMs, keptMs } = this.#times;
    this.#timer = setTimeout(
      () => {
        if (this.#readers === 0) this.stop();
      },
      this.isComplete ? keptMs : aloneMs,
    );
    this.#timer.unref();
  }
}
