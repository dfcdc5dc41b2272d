import { waitAtMost } from "@antiphon/base/limits/wait-at-most.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { ForkedProcess } from "./forked-process.ts";
import type { Greeting } from "./messages.ts";
import { type CommonMetrics, type ConnectedProcess, Switchboard } from "./switchboard.ts";

export interface PrimaryOptions {
  readonly count: number;
  readonly fork: () => ForkedProcess;
  readonly metrics: CommonMetrics;
  readonly log: Logger;
  /** Called once, when all processes serve for the first time. */
  readonly onServing: (greetings: readonly Greeting[]) => void;
  /** Called with each later line of a process, after `onServing`. */
  readonly onLine: (line: string) => void;
  /** How long a process that was told to stop may take, in milliseconds. Then it is killed. */
  readonly leaveMs: number;
  /** How long a replaced process may take to finish its work, in milliseconds. Then it is killed. */
  readonly finishMs: number;
  /** How long a restart waits for the end of a replaced process before it replaces the next, in milliseconds. */
  readonly overlapMs: number;
}

/** How long a process may take to start serving. */
const START_MS_MAX = 10 * 60_000;
/** A process that lived this long before it died is replaced at once; others after a wait that doubles each time. */
const STABLE_MS = 10_000;
const FIRST_WAIT_MS = 100;
const WAIT_MS_MAX = 10_000;
/** If this many processes of one place die in succession before they serve, all are stopped. */
const FAILED_STARTS_MAX = 5;
const FAILURE_EXIT_CODE = 1;
/** The maximum of replaced processes that finish their work, per place. Beyond it, the oldest are stopped. */
const FINISHING_PER_PLACE_MAX = 3;

/** A serving process and its state in the primary. */
interface Member extends ConnectedProcess {
  readonly startedAt: number;
  /** Resolves to null if the process ended before it served. */
  readonly greeting: PromiseWithResolvers<Greeting | null>;
  isServing: boolean;
  /** It was told to leave, or starts as a replacement: nothing replaces it. */
  isLeaving: boolean;
  hasEnded: boolean;
}

/** Each place has exactly one member. A restart replaces the member. */
interface Place {
  readonly number: number;
  member: Member | null;
  isReplacing: boolean;
  /** Consecutive members that died young. */
  deaths: number;
  /** Consecutive members that died before they served. */
  failedStarts: number;
}

/** Starts the serving processes, replaces dead ones, restarts and stops them. Serves nothing itself. */
export class Primary {
  readonly #options: PrimaryOptions;
  readonly #places: readonly Place[];
  readonly #members = new Set<Member>();
  /** Replaced members that are finishing their work, the oldest first. */
  readonly #finishing = new Set<Member>();
  readonly #switchboard: Switchboard;
  /** No process is started any more. A retiring primary may still be told to stop. */
  #isEnding = false;
  #isStopping = false;
  readonly #over = Promise.withResolvers<number>();
  #hasStarted = false;
  /** Lines reported before all processes served. */
  readonly #toldEarly: string[] = [];
  #isRestarting = false;
  /** A restart was requested but has not begun. */
  #isRestartDue = false;
  #exitCode = 0;

  constructor(options: PrimaryOptions) {
    const { count, metrics } = options;
    this.#options = options;
    this.#places = Array.from({ length: count }, (_, index) => newPlace(index + 1));
    this.#switchboard = new Switchboard({ count, metrics, peers: () => [...this.#members] });
  }

  /**
   * Starts all processes, the first one alone, because it creates shared things: tables and keys. Resolves to the exit
   * code when all have ended.
   */
  async run(): Promise<number> {
    const [first, ...others] = this.#places;
    const greetings = first === undefined ? [] : await this.#startAll([first]);
    if (!this.#isEnding) greetings.push(...(await this.#startAll(others)));
    if (!this.#isEnding) this.#options.onServing(greetings);
    this.#hasStarted = true;
    for (const line of this.#toldEarly.splice(0)) this.#options.onLine(line);
    if (this.#isRestartDue) this.restart();
    return await this.#over.promise;
  }

  /**
   * Replaces one process after the other. Each leaves once its replacement serves. A restart in progress is repeated
   * afterwards, because settings may have changed meanwhile.
   */
  restart(): void {
    if (this.#isEnding) return;
    this.#isRestartDue = this.#isRestarting || !this.#hasStarted;
    if (this.#isRestartDue) return;
    this.#isRestarting = true;
    void this.#restartAll().finally(() => {
      this.#isRestarting = false;
      if (this.#isRestartDue) this.restart();
    });
  }

  /** Lets all processes finish open work. */
  stop(): void {
    if (this.#isStopping) return;
    this.#isEnding = true;
    this.#isStopping = true;
    for (const member of this.#members) void this.#dismiss(member, false);
    this.#endIfOver();
  }

  /**
   * Lets all processes finish open work, with the time of replaced ones: others serve in their place. Resolves in the
   * turn in which the last of them was told.
   */
  async retire(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const serving = [...this.#members].filter((member) => !this.#finishing.has(member));
    await Promise.all(serving.map((member) => this.#dismiss(member, true)));
    this.#endIfOver();
  }

  async #startAll(places: readonly Place[]): Promise<Greeting[]> {
    const greetings = await Promise.all(places.map((place) => this.#start(place).greeting.promise));
    return greetings.filter((greeting) => greeting !== null);
  }

  #start(place: Place): Member {
    const member = this.#fork(place);
    place.member = member;
    return member;
  }

  #fork(place: Place): Member {
    const process = this.#options.fork();
    const member: Member = {
      number: place.number,
      process,
      startedAt: performance.now(),
      greeting: Promise.withResolvers(),
      isServing: false,
      isLeaving: false,
      hasEnded: false,
    };
    this.#members.add(member);
    process.onMessage((message) => {
      if (message.type === "serving") this.#serves(place, member, message.greeting);
      if (message.type === "told") this.#tell(message.line);
      this.#switchboard.receive(member, message);
    });
    void killLate(process, member.greeting.promise, START_MS_MAX);
    void process.exit.then((code) => this.#onExit(place, member, code));
    return member;
  }

  #tell(line: string): void {
    if (this.#hasStarted) this.#options.onLine(line);
    else this.#toldEarly.push(line);
  }

  #serves(place: Place, member: Member, greeting: Greeting): void {
    member.isServing = true;
    place.failedStarts = 0;
    member.greeting.resolve(greeting);
  }

  #onExit(place: Place, member: Member, code: number | null): void {
    const { number, process, isServing } = member;
    member.hasEnded = true;
    this.#members.delete(member);
    this.#finishing.delete(member);
    this.#switchboard.forget(member);
    this.#options.metrics.end(process.id);
    member.greeting.resolve(null);
    if (this.#isEnding) {
      this.#exitCode ||= code ?? FAILURE_EXIT_CODE;
      return this.#endIfOver();
    }
    if (member.isLeaving) return;
    // At the first start, the process itself prints the problem.
    if (this.#hasStarted || code === null)
      this.#options.log.error({ number, childPid: process.pid, exitCode: code }, "a process died");
    place.failedStarts += isServing ? 0 : 1;
    if (!isServing && (!this.#hasStarted || place.failedStarts >= FAILED_STARTS_MAX)) return this.#giveUp(number, code);
    if (!place.isReplacing) this.#replaceDead(place, member);
  }

  #giveUp(number: number, code: number | null): void {
    this.#exitCode = code === null || code === 0 ? FAILURE_EXIT_CODE : code;
    if (this.#hasStarted)
      this.#options.log.error({ number, exitCode: code }, "stopping all processes: one cannot be started");
    this.stop();
  }

  /** The wait grows with the number of processes of this place that died young. */
  #replaceDead(place: Place, dead: Member): void {
    place.deaths = performance.now() - dead.startedAt < STABLE_MS ? place.deaths + 1 : 0;
    const waitMs = place.deaths === 0 ? 0 : Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (place.deaths - 1));
    setTimeout(() => {
      if (!this.#isEnding && place.member === dead && !place.isReplacing) this.#start(place);
    }, waitMs);
  }

  async #restartAll(): Promise<void> {
    const { log } = this.#options;
    log.info({ processes: this.#places.length }, "restarting the processes one after the other");
    for (const place of this.#places) {
      if (this.#isEnding) return;
      place.isReplacing = true;
      const isReplaced = await this.#replace(place);
      place.isReplacing = false;
      if (isReplaced) continue;
      log.error({ number: place.number }, "restart cancelled: a new process did not start");
      if (place.member?.hasEnded === true) this.#replaceDead(place, place.member);
      return;
    }
    log.info({ processes: this.#places.length }, "all processes restarted");
  }

  /** Returns false if the new process ended before it served. The old one then continues. */
  async #replace(place: Place): Promise<boolean> {
    const old = place.member;
    const fresh = this.#fork(place);
    fresh.isLeaving = true;
    if ((await fresh.greeting.promise) === null) return false;
    place.member = fresh;
    if (this.#isEnding) return true;
    fresh.isLeaving = false;
    if (old === null || old.hasEnded) return true;
    void this.#dismiss(old, true);
    await waitAtMost(this.#options.overlapMs, old.process.exit);
    return true;
  }

  /** Resolves when the process was told. */
  #dismiss(member: Member, isReplaced: boolean): Promise<void> {
    const { leaveMs, finishMs } = this.#options;
    const { promise: notice, resolve } = Promise.withResolvers<void>();
    member.isLeaving = true;
    member.process.send({ type: "leave", isReplaced }, resolve);
    void killLate(member.process, member.process.exit, isReplaced ? finishMs : leaveMs);
    if (isReplaced) this.#limitFinishing(member);
    return notice;
  }

  #limitFinishing(member: Member): void {
    this.#finishing.add(member);
    const tooMany = this.#finishing.size - this.#places.length * FINISHING_PER_PLACE_MAX;
    for (const oldest of [...this.#finishing].slice(0, Math.max(0, tooMany))) {
      this.#finishing.delete(oldest);
      void this.#dismiss(oldest, false);
    }
  }

  #endIfOver(): void {
    if (this.#members.size === 0) this.#over.resolve(this.#exitCode);
  }
}

function newPlace(number: number): Place {
  return { number, member: null, isReplacing: false, deaths: 0, failedStarts: 0 };
}

/** Kills a process if this does not happen in time. */
async function killLate(process: ForkedProcess, event: Promise<unknown>, ms: number): Promise<void> {
  const timer = setTimeout(() => process.kill(), ms);
  await event;
  clearTimeout(timer);
}
