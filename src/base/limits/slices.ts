/** The longest time to compute without a turn of the event loop. */
const SLICE_MS = 4;

const waiting: (() => void)[] = [];
let isDue = false;

/**
 * Cuts long computations into slices, and lets the event loop serve others in between. All computations in the process
 * share the loop: one slice runs per turn, however many computations wait.
 */
export class Slices {
  #startedAt = performance.now();

  /** Whether the slice is used up. Cheap enough to ask after every step. */
  get isOver(): boolean {
    return performance.now() - this.#startedAt >= SLICE_MS;
  }

  /** Waits for the next slice if this one is used up. Undefined, which awaits cheaply, if there is time left. */
  pause(): Promise<void> | undefined {
    return this.isOver ? this.next() : undefined;
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

/** How many steps are made before the time is looked at. */
const STEPS_AT_ONCE = 16;

/** Calls `act` for each element in order. Long lists take several turns of the event loop. */
export async function eachInSlices<T>(
  list: readonly T[],
  act: (element: T, index: number) => void,
  slices = new Slices(),
): Promise<void> {
  for (const [index, element] of list.entries()) {
    act(element, index);
    if (index % STEPS_AT_ONCE === STEPS_AT_ONCE - 1 && slices.isOver) await slices.next();
  }
}

/** The results of `map` for each element. Long lists take several turns of the event loop. */
export async function mapInSlices<T, R>(
  list: readonly T[],
  map: (element: T, index: number) => R,
  slices?: Slices,
): Promise<R[]> {
  const results: R[] = [];
  await eachInSlices(list, (element, index) => results.push(map(element, index)), slices);
  return results;
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
