import type { Logger } from "@antiphon/base/logger.ts";
import { SpeechError, type TranscriptionRequest } from "../speech-engine.ts";
import type { EngineReply } from "./engine-reply.ts";
import { type EngineProcess, EngineRefusal, type EngineRequest } from "./process/engine-process.ts";
import { TurnQueue } from "./turn-queue.ts";

/** The part of the engine that the queue needs. */
export type Answerer = Pick<EngineProcess, "ask" | "kill" | "untilIdle">;

export interface QuestionOptions extends Pick<TranscriptionRequest, "caller" | "hurried" | "signal" | "urgency"> {
  /** How long the engine may take, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Whether the engine has answered earlier questions of the same request. Such a question is accepted even if the
   * queue is full.
   */
  readonly isContinued: boolean;
}

interface Job {
  readonly question: EngineRequest;
  readonly signal: AbortSignal;
  /** How long the engine may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly resolve: (reply: EngineReply) => void;
  readonly reject: (reason: unknown) => void;
  attempts: number;
}

/** A crash may have had another cause, so a question gets a second attempt. */
const ATTEMPTS_MAX = 2;

/**
 * Sends questions to the engine one at a time, because parallel questions would slow each other down. Questions wait
 * while there is no engine. A question during which the engine dies is asked once more.
 */
export class EngineQueue {
  readonly #queue: TurnQueue<Job>;
  readonly #log: Logger;
  #engine: Answerer | null = null;
  /** The error for new questions while the engine has failed; null if they may wait. */
  #waitRefusal: SpeechError | null = null;
  #isWorking = false;

  constructor(jobsMax: number, log: Logger) {
    this.#queue = new TurnQueue(jobsMax);
    this.#log = log;
  }

  get isFull(): boolean {
    return this.#queue.isFull;
  }

  /** Sets the engine that answers from now on; null if there is none for now. */
  setEngine(engine: Answerer | null): void {
    this.#engine = engine;
    if (engine !== null) this.#waitRefusal = null;
    void this.#work();
  }

  /** Rejects all waiting questions, and new ones until there is an engine again. */
  rejectAll(error: SpeechError): void {
    this.#waitRefusal = error;
    for (let job = this.#queue.take(); job !== undefined; job = this.#queue.take()) job.reject(error);
  }

  /** Rejects with `SpeechError`, or with the signal's reason if that aborts. */
  async ask(
    question: EngineRequest,
    { caller, urgency, hurried, signal, timeoutMs, isContinued }: QuestionOptions,
  ): Promise<EngineReply> {
    signal.throwIfAborted();
    if (this.#waitRefusal !== null) throw this.#waitRefusal;
    if (this.isFull && !isContinued)
      throw new SpeechError("busy", "Too many recordings are already waiting for the speech engine");
    const { promise, resolve, reject } = Promise.withResolvers<EngineReply>();
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
        await this.#run(job, this.#engine);
      }
    } finally {
      this.#isWorking = false;
    }
  }

  async #run(job: Job, engine: Answerer): Promise<void> {
    const limit = AbortSignal.timeout(job.timeoutMs);
    try {
      job.resolve(await engine.ask(job.question, AbortSignal.any([job.signal, limit])));
    } catch (error) {
      if (job.signal.aborted) return this.#waitUntilIdle(engine, job.timeoutMs);
      if (error instanceof EngineRefusal) {
        this.#log.warn({ error }, "speech engine refused a recording");
        return job.reject(new SpeechError("crashed", "The speech engine cannot transcribe this recording", error));
      }
      this.#killEngine(engine);
      if (limit.aborted) {
        this.#log.warn({ timeoutMs: job.timeoutMs }, "stopping speech engine: it took too long");
        return job.reject(new SpeechError("crashed", "The speech engine took too long for this recording", error));
      }
      job.attempts += 1;
      if (job.attempts < ATTEMPTS_MAX && this.#waitRefusal === null) return this.#queue.putBack(job);
      if (this.#waitRefusal !== null) return job.reject(this.#waitRefusal);
      job.reject(new SpeechError("crashed", "The speech engine failed twice on this recording", error));
    }
  }

  /** Waits until the engine is idle. It works on an aborted question until it next checks the connection. */
  async #waitUntilIdle(engine: Answerer, timeoutMs: number): Promise<void> {
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
