/** The longest time to compute without a turn of the event loop. Steps that cannot be cut come on top of it. */
const SLICE_MS = 2;

/** A slice that lasts this long counts towards its turn. Shorter ones never wait, so that small requests do not. */
const COUNTED_MS = 0.25;

const waiting: (() => void)[] = [];
/** Counts turns. One begins when `endTurn` ends the last. */
let turn = 0;
/** When the first slice of this turn began that counts; null if none does. */
let turnStartedAt: number | null = null;
let isTurnEndPlanned = false;
/** Whether a slice of this turn counts that did not wait. */
let hasNewcomer = false;
/** Whether those that wait were passed over for newcomers. The newcomers of the next turn then wait as well. */
let isPassedOver = false;

/**
 * Cuts long computations into slices, and lets the event loop serve others in between. All computations in the process
 * share the loop: those of one turn share the time of one slice, and one that waits goes on per turn.
 */
export class Slices {
  #startedAt = performance.now();
  /** The turn that woke it. */
  #wokenIn = -1;

  /** Whether the slice is used up, or the turn by slices before it. Cheap enough to ask after every step. */
  get isOver(): boolean {
    const now = performance.now();
    const lasted = now - this.#startedAt;
    if (lasted < COUNTED_MS) return false;
    if (lasted >= SLICE_MS || isPassedOver) return true;
    turnStartedAt ??= startTurn(this.#startedAt);
    return now - turnStartedAt >= SLICE_MS;
  }

  /** Waits for the next slice if this one is used up. Undefined, which awaits cheaply, if there is time left. */
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

/** How many steps are made before the time is looked at. */
const STEPS_AT_ONCE = 16;

/** How many quick tests are made before the time is looked at. */
const TESTS_AT_ONCE = 256;

/**
 * Calls `act` for each element in order. Long lists take several turns of the event loop; short ones are done when this
 * returns, without a promise.
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
 * Node calls this after the callbacks of sockets and before the next look at them, so what is woken here would follow
 * the newcomers of this turn without a pause. It is woken one turn later then.
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
  turnStartedAt = performance.now(); // What is woken begins the next turn.
  planTurnEnd();
  wake();
}
