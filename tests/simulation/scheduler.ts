import { Trace } from "./trace.ts";

/** The functions of the system, from before they were replaced by simulated ones. */
const nextTurn = globalThis.setImmediate;

/** Something that does steps and may die or stand still. */
export interface Actor {
  readonly name: string;
  isAlive: boolean;
  /** It does nothing before this time, in simulated milliseconds. */
  frozenUntil: number;
}

/** One piece of work: all that runs until everything waits again. */
export interface Step {
  readonly actor: Actor;
  readonly label: string;
  run: (() => void) | null;
}

interface PlannedStep extends Step {
  /** In simulated milliseconds. */
  readonly at: number;
  /** Orders steps of one time. */
  readonly order: number;
}

/** Runs steps in the order of a simulated clock, one at a time. Steps of a dead actor never run. */
export class Scheduler {
  readonly trace: Trace;
  /** Simulated milliseconds since the beginning. */
  now = 0;
  /** Whose step runs. Timers that it sets are its own. */
  current: Actor;
  #order = 0;
  #steps = 0;
  readonly #heap: PlannedStep[] = [];

  constructor(outside: Actor, trace: Trace) {
    this.current = outside;
    this.trace = trace;
  }

  get steps(): number {
    return this.#steps;
  }

  /** Plans a step of `actor`, `ms` milliseconds from now. Setting its `run` to null cancels it. */
  plan(actor: Actor, ms: number, label: string, run: () => void): Step {
    const step: PlannedStep = { actor, label, run, at: this.now + Math.max(0, ms), order: (this.#order += 1) };
    this.#push(step);
    return step;
  }

  /** Resolves after `ms` milliseconds, in a step of `actor`; never if it dies before. */
  wait(actor: Actor, ms: number, label: string): Promise<void> {
    return new Promise((resolve) => void this.plan(actor, ms, label, resolve));
  }

  /** Runs steps until `isOver`, until nothing is planned, or until a step throws. */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        try {
          if (isOver() || !this.#runNext()) return resolve();
        } catch (error) {
          return reject(error);
        }
        nextTurn(turn); // All promises that the step has settled go on before it.
      };
      nextTurn(turn);
    });
  }

  /** Returns false if nothing is planned. */
  #runNext(): boolean {
    for (let step = this.#pop(); step !== undefined; step = this.#pop()) {
      const { actor, run, label } = step;
      if (run === null || !actor.isAlive) continue;
      this.now = Math.max(this.now, step.at);
      if (actor.frozenUntil > this.now) {
        this.#push({
          ...step,
          get run() {
            return step.run;
          },
          at: actor.frozenUntil,
        });
        continue;
      }
      this.#steps += 1;
      this.current = actor;
      this.trace.add(this.now, actor.name, label);
      run();
      return true;
    }
    return false;
  }

  #push(step: PlannedStep): void {
    const heap = this.#heap;
    let place = heap.push(step) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || comesFirst(parent, step)) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = step;
  }

  #pop(): PlannedStep | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [one, other] = [heap[left], heap[left + 1]];
      if (one === undefined) break;
      const [child, at] = other === undefined || comesFirst(one, other) ? [one, left] : [other, left + 1];
      if (comesFirst(last, child)) break;
      heap[place] = child;
      place = at;
    }
    heap[place] = last;
    return first;
  }
}

function comesFirst(one: PlannedStep, other: PlannedStep): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
