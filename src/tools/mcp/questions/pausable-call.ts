import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import type { CallToolResult, ElicitResult } from "@modelcontextprotocol/client";
import { McpFault, McpTimeout } from "../mcp-failure.ts";
import type { QuestionParams } from "./user-question.ts";

/** The maximum questions of a call that wait for an answer at the same time. Further ones are declined. */
const QUESTIONS_MAX = 8;
/** Progress reports extend a call up to this many times its limit, as those of calls that cannot ask. */
const PROGRESS_FACTOR = 5;
const OVER = new Error("nobody waits for this call any more");

export const DECLINED: ElicitResult = { action: "decline" };

/** What happens next in a call. */
export type OpenStep =
  | { readonly type: "result"; readonly result: CallToolResult }
  /** `answer` does nothing once the server has taken the question back. */
  | { readonly type: "question"; readonly params: QuestionParams; readonly answer: AnswerQuestion };

type AnswerQuestion = (result: ElicitResult) => void;

/** How a call is made. */
export interface CallWork {
  /** Aborting `signal` stops it. */
  begin(signal: AbortSignal, onProgress: () => void): Promise<CallToolResult>;
  /** The maximum time without an answer, a question or progress. The wait for an answer of the user does not count. */
  readonly timeoutMs: number;
}

interface OpenQuestion {
  readonly params: QuestionParams;
  readonly answer: AnswerQuestion;
}

/**
 * A call over a connection of an older protocol, during which the server may ask the user. It waits for the answer, and
 * can outlast the response that made it.
 */
export class PausableCall {
  readonly #work: CallWork;
  readonly #floor: CallFloor;
  readonly #stop = new AbortController();
  readonly #questions: OpenQuestion[] = [];
  #result: Promise<CallToolResult> | null = null;
  #wake: () => void = () => {};
  #onProgress: () => void = () => {};

  constructor(work: CallWork, floor: CallFloor) {
    this.#work = work;
    this.#floor = floor;
  }

  /** Waits for the next question, or for the end. Aborting `signal` stops the call. Rejects with `McpFault`. */
  async next(signal: AbortSignal): Promise<OpenStep> {
    const leave = await this.#floor.take(this, signal);
    const clock = this.#startClock();
    try {
      this.#result ??= this.#work.begin(this.#stop.signal, () => this.#onProgress());
      const end = this.#result.then((result): OpenStep => ({ type: "result", result }));
      return await unlessAborted(Promise.race([end, this.#nextQuestion(), clock.late]), signal);
    } catch (error) {
      this.stop();
      throw error;
    } finally {
      clock.stop();
      leave();
    }
  }

  /** The server asks. Resolves once the question is answered; it is forgotten if the server takes it back. */
  async ask(params: QuestionParams, signal: AbortSignal): Promise<ElicitResult> {
    if (this.#questions.length >= QUESTIONS_MAX) return DECLINED;
    const { promise, resolve } = Promise.withResolvers<ElicitResult>();
    const leave = (): void => {
      const place = this.#questions.indexOf(question);
      if (place !== -1) this.#questions.splice(place, 1);
    };
    const answer = (result: ElicitResult): void => {
      leave();
      resolve(result);
    };
    const question = { params, answer };
    this.#questions.push(question);
    this.#wake();
    try {
      return await unlessAborted(promise, AbortSignal.any([signal, this.#stop.signal]));
    } finally {
      leave();
    }
  }

  stop(): void {
    this.#stop.abort(OVER);
    this.#result?.catch(() => {});
  }

  async #nextQuestion(): Promise<OpenStep> {
    for (;;) {
      const [first] = this.#questions;
      if (first !== undefined) return { type: "question", ...first };
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }

  #startClock() {
    const { timeoutMs } = this.#work;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const end = Date.now() + PROGRESS_FACTOR * timeoutMs;
    const fault = () =>
      new McpFault(new McpTimeout(`no answer in ${timeoutMs} ms`), {
        status: null,
        isForgotten: false,
        delivery: "sent",
      });
    const wait = (): NodeJS.Timeout => setTimeout(() => reject(fault()), Math.min(timeoutMs, end - Date.now()));
    let timer = wait();
    this.#onProgress = () => {
      clearTimeout(timer);
      timer = wait();
    };
    late.catch(() => {});
    const stop = (): void => {
      clearTimeout(timer);
      this.#onProgress = () => {};
    };
    return { late, stop };
  }
}

/** Which call of a connection runs. One runs at a time, because a question does not name its call. */
export class CallFloor {
  readonly #place = new Semaphore(1);
  #call: PausableCall | null = null;

  /** Waits until no other call runs. Returns what leaves the floor, to be called once. */
  async take(call: PausableCall, signal: AbortSignal): Promise<() => void> {
    const release = await this.#place.take(signal);
    this.#call = call;
    return () => {
      this.#call = null;
      release();
    };
  }

  /** The server asks something. Declined if no call runs that could have caused it. */
  async ask(params: QuestionParams, signal: AbortSignal): Promise<ElicitResult> {
    return this.#call === null ? DECLINED : await this.#call.ask(params, signal);
  }
}
