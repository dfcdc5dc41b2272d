import type { Logger } from "../../base/logger.ts";
import { SpeechError, type TranscriptionRequest } from "../speech-engine.ts";
import type { Heard } from "./engine-reply.ts";
import { type EngineProcess, EngineRefusal, type Question } from "./process/engine-process.ts";
import { TurnQueue } from "./turn-queue.ts";

/** The engine, as far as questions go. */
export type Answerer = Pick<EngineProcess, "ask" | "kill" | "untilIdle">;

export interface Asking extends Pick<TranscriptionRequest, "caller" | "hurried" | "signal" | "urgency"> {
  /** How long the engine may take. */
  readonly timeoutMs: number;
  /**
   * Whether the question belongs to a request of which the engine has answered others: it is not sent away for want of
   * room.
   */
  readonly isContinued: boolean;
}

interface Job {
  readonly question: Question;
  readonly signal: AbortSignal;
  /** How long the engine may take for it. */
  readonly timeoutMs: number;
  readonly resolve: (heard: Heard) => void;
  readonly reject: (reason: unknown) => void;
  attempts: number;
}

/** The engine may have died of something else the first time. */
const ATTEMPTS_MAX = 2;

/**
 * Hands questions to the engine, one at a time: it would compute several at once by making all of them wait. Questions
 * wait here while the engine is away. One that the engine dies of is asked once more.
 */
export class EngineQueue {
  readonly #queue: TurnQueue<Job>;
  readonly #log: Logger;
  #engine: Answerer | null = null;
  /** Why nobody needs to wait; null while waiting makes sense. */
  #waitRefusal: SpeechError | null = null;
  #isWorking = false;

  constructor(jobsMax: number, log: Logger) {
    this.#queue = new TurnQueue(jobsMax);
    this.#log = log;
  }

  get isFull(): boolean {
    return this.#queue.isFull;
  }

  /** The engine that answers from now on; null: none for now. */
  setEngine(engine: Answerer | null): void {
    this.#engine = engine;
    if (engine !== null) this.#waitRefusal = null;
    void this.#work();
  }

  /** Sends everyone who waits away, and who would wait before there is an engine again. */
  rejectAll(error: SpeechError): void {
    this.#waitRefusal = error;
    for (let job = this.#queue.take(); job !== undefined; job = this.#queue.take()) job.reject(error);
  }

  /** Rejects with `SpeechError`, or with the signal's reason when that aborts. */
  async ask(question: Question, { caller, urgency, hurried, signal, timeoutMs, isContinued }: Asking): Promise<Heard> {
    signal.throwIfAborted();
    if (this.#waitRefusal !== null) throw this.#waitRefusal;
    if (this.isFull && !isContinued)
      throw new SpeechError("busy", "Too many recordings wait for the speech engine already");
    const { promise, resolve, reject } = Promise.withResolvers<Heard>();
    const job: Job = { question, signal, timeoutMs, resolve, reject, attempts: 0 };
    this.#queue.add(job, caller, urgency);
    const leave = (): void => {
      this.#queue.remove(job);
      reject(signal.reason);
    };
    const hurry = (): void => {
      if (this.#queue.remove(job)) this.#queue.add(job, caller, "awaited");
    };
    signal.addEventListener("abort", leave, { once: true });
    hurried?.addEventListener("abort", hurry, { once: true });
    void this.#work();
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
      hurried?.removeEventListener("abort", hurry);
    }
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      while (this.#engine !== null) {
        const job = this.#queue.take();
        if (job === undefined) return;
        await this.#put(job, this.#engine);
      }
    } finally {
      this.#isWorking = false;
    }
  }

  async #put(job: Job, engine: Answerer): Promise<void> {
    const limit = AbortSignal.timeout(job.timeoutMs);
    try {
      job.resolve(await engine.ask(job.question, AbortSignal.any([job.signal, limit])));
    } catch (error) {
      if (job.signal.aborted) return this.#letFinish(engine, job.timeoutMs);
      if (error instanceof EngineRefusal) {
        this.#log.warn({ error }, "the speech engine refused a recording");
        return job.reject(new SpeechError("crashed", "The speech engine cannot transcribe this recording", error));
      }
      this.#killEngine(engine);
      if (limit.aborted) {
        this.#log.warn({ timeoutMs: job.timeoutMs }, "the speech engine took too long and was stopped");
        return job.reject(new SpeechError("crashed", "The speech engine took too long for this recording", error));
      }
      job.attempts += 1;
      if (job.attempts < ATTEMPTS_MAX && this.#waitRefusal === null) return this.#queue.putBack(job);
      if (this.#waitRefusal !== null) return job.reject(this.#waitRefusal);
      job.reject(new SpeechError("crashed", "The speech engine failed twice on this recording", error));
    }
  }

  /**
   * A question that was taken back keeps the engine busy until its next look at the connection; a new one would only
   * wait inside it.
   */
  async #letFinish(engine: Answerer, timeoutMs: number): Promise<void> {
    try {
      await engine.untilIdle(AbortSignal.timeout(timeoutMs));
    } catch {
      this.#killEngine(engine);
    }
  }

  #killEngine(engine: Answerer): void {
    engine.kill();
    if (this.#engine === engine) this.#engine = null;
  }
}
