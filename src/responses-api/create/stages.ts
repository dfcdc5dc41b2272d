import { Slices } from "@antiphon/base/limits/slices.ts";

/** One step of a longer work: takes what is known so far, and returns it with more. */
export type Stage<Draft, Next, Ports> = (draft: Draft, ports: Ports) => Next | Promise<Next>;

/**
 * A list of stages. Each begins with the draft of the one before. Between two stages the event loop serves others, if
 * those before have taken long.
 */
export class Stages<First, Last, Ports> {
  readonly #runAll: (first: First, ports: Ports, slices: Slices) => Promise<Last>;

  private constructor(runAll: (first: First, ports: Ports, slices: Slices) => Promise<Last>) {
    this.#runAll = runAll;
  }

  /** An empty list. */
  static of<First, Ports>(): Stages<First, First, Ports> {
    return new Stages(async (first) => first);
  }

  /** The list with one more stage at its end. */
  add<Next>(stage: Stage<Last, Next, Ports>): Stages<First, Next, Ports> {
    return new Stages(async (first, ports, slices) => {
      const draft = await this.#runAll(first, ports, slices);
      if (slices.isOver) await slices.next();
      return await stage(draft, ports);
    });
  }

  /** Runs all stages, one after the other. Rejects with what the first of them throws. */
  run(first: First, ports: Ports): Promise<Last> {
    return this.#runAll(first, ports, new Slices());
  }
}
