/** Longer than this nothing computes without letting others run. */
const SLICE_MS = 4;

const waiting: (() => void)[] = [];
let isDue = false;

/**
 * Cuts long computing into slices, between which the loop serves others. Whatever computes in this way in the process
 * shares the loop: one slice runs in each turn, however many computations there are.
 */
export class Slices {
  #startedAt = performance.now();

  /** Whether the slice is used up. Costs next to nothing, so that it can be asked after every step. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt >= SLICE_MS;
  }

  /** Waits for the next slice if this one is used up. */
  async pause(): Promise<void> {
    if (this.isOver) await this.next();
  }

  /** Waits for the next slice. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      wakeLater();
    });
    this.#startedAt = performance.now();
  }
}

function wakeLater(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(() => {
    isDue = false;
    waiting.shift()?.();
    if (waiting.length > 0) wakeLater();
  });
}
