/** The longest computation without a turn of the event loop, not counting steps that cannot be cut. */
const SLICE_MS = 2;

/**
 * A slice of at least this length counts towards its turn. Shorter ones never wait, so that small requests do not wait.
 */
const COUNTED_MS = 0.25;

const waiting: (() => void)[] = [];
/** Counts turns. A turn begins when `endTurn` ends the previous one. */
let turn = 0;
/** When the first counted slice of this turn began; null if there is none. */
let turnStartedAt: number | null = null;
let isTurnEndPlanned = false;
/** Whether a counted slice of this turn did not wait. */
let hasNewcomer = false;
/** Whether newcomers went before waiting slices. The newcomers of the next turn then wait as well. */
let isPassedOver = false;

/**
 * Cuts long computations into slices, and lets the event loop serve others in between. All computations in the process
 * share the loop: those of one turn share the time of one slice, and one waiting computation continues per turn.
 */
export class Slices {
  #startedAt = performance.now();
  /** The turn in which it woke up. */
  #wokenIn = -1;

  /** Whether the slice is used up, or earlier slices have used up the turn. Cheap enough to check after every step. */
  get isOver(): boolean {
    const now = performance.now();
    const durationMs = now - this.#startedAt;
    if (durationMs < COUNTED_MS) return false;
    if (durationMs >= SLICE_MS || isPassedOver) return true;
    turnStartedAt ??= startTurn(this.#startedAt);
    return now - turnStartedAt >= SLICE_MS;
  }

  /** Waits for the next slice if this one is used up. Undefined, which is cheap to await, if there is time left. */
  pause(): Promise<void> | undefined {
    return this.isOver ? this.next() : undefined;
  }

  /** Waits for the next slice. */
  async next(): Promise<void> {
    if (this.#wokenIn !== turn) hasNewcomer = true;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      planTurnEnd();
    });
    this.#wokenIn = turn;
    this.#startedAt = performance.now();
  }
}

/** The number of steps between two checks of the time. */
const STEPS_AT_ONCE = 16;

/** The number of quick tests between two checks of the time. */
const TESTS_AT_ONCE = 256;

/**
 * Calls `act` for each element in order. Long lists take several turns of the event loop; short ones are complete on
 * return, without a promise.
 */
export function eachInSlices<T>(
  list: readonly T[],
  act: (element: T, index: number) => void,
  slices?: Slices,
): Promise<void> | undefined {
  if (list.length >= STEPS_AT_ONCE) return eachOfMany(list, act, slices);
  let index = 0;
  for (const element of list) act(element, index++);
  return undefined;
}

async function eachOfMany<T>(
  list: readonly T[],
  act: (element: T, index: number) => void,
  slices = new Slices(),
): Promise<void> {
  let index = 0;
  for (const element of list) {
    act(element, index++);
    if (index % STEPS_AT_ONCE === 0 && slices.isOver) await slices.next();
  }
}

/** The results of `map` for each element, in the same way. */
export function mapInSlices<T, R>(
  list: readonly T[],
  map: (element: T, index: number) => R,
  slices?: Slices,
): Promise<R[]> | R[] {
  const results: R[] = [];
  const mapping = eachInSlices(list, (element, index) => results.push(map(element, index)), slices);
  return mapping === undefined ? results : mapping.then(() => results);
}

/** Whether `test` holds for any element. Long lists take several turns of the event loop. */
export async function anyInSlices<T extends object>(
  list: readonly T[],
  test: (element: T) => boolean,
): Promise<boolean> {
  const slices = new Slices();
  for (let start = 0; start < list.length; start += TESTS_AT_ONCE) {
    const end = Math.min(start + TESTS_AT_ONCE, list.length);
    for (let index = start; index < end; index += 1) {
      const element = list[index];
      if (element !== undefined && test(element)) return true;
    }
    if (slices.isOver) await slices.next();
  }
  return false;
}

function startTurn(at: number): number {
  hasNewcomer = true;
  planTurnEnd();
  return at;
}

function planTurnEnd(): void {
  if (isTurnEndPlanned) return;
  isTurnEndPlanned = true;
  setImmediate(endTurn);
}

/**
 * Node calls this after the callbacks of sockets and before it polls them again, so a computation woken here would
 * follow the newcomers of this turn without a pause. It is therefore woken one turn later.
 */
function endTurn(): void {
  isTurnEndPlanned = false;
  turn += 1;
  turnStartedAt = null;
  isPassedOver = hasNewcomer && !isPassedOver && waiting.length > 0;
  hasNewcomer = false;
  if (isPassedOver) return planTurnEnd();
  const wake = waiting.shift();
  if (wake === undefined) return;
  turnStartedAt = performance.now(); // The woken computation begins the next turn.
  planTurnEnd();
  wake();
}
