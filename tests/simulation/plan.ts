import type { Intention } from "./client.ts";
import type { DatabaseFaults } from "./database.ts";
import type { FunctionName, OutsideFaults, Script } from "./model.ts";
import type { NetworkFaults } from "./network.ts";
import type { Random } from "./random.ts";

/** Something that happens to a random node after a number of steps. */
export interface PlannedFault {
  readonly atStep: number;
  /** `crash`: killed; `replace`: told to end; `freeze`: it stands still; `cut off`: it does not reach the database. */
  readonly type: "crash" | "replace" | "freeze" | "cut off";
  /** How long a node stands still or is cut off; 0 for the others. */
  readonly ms: number;
}

/** What happens in one seed. */
export interface Plan {
  /** Whether nodes are processes of one host that share a file. */
  readonly isFile: boolean;
  readonly nodes: number;
  /** How many background runs a node makes at a time. */
  readonly runsMax: number;
  readonly database: DatabaseFaults;
  readonly network: NetworkFaults;
  readonly outside: OutsideFaults;
  readonly intentions: readonly Intention[];
  readonly scripts: ReadonlyMap<string, Script>;
  /** In the order of their steps. */
  readonly faults: readonly PlannedFault[];
  /** After this many steps nothing fails any more. */
  readonly faultySteps: number;
}

/** Faults come in the first steps, in which runs are made: all of them in one of these numbers of steps. */
const FAULT_STEPS = [150, 300, 900] as const;
const FAULTY_STEPS_MAX = 2_500;
const PAUSE_MS_MAX = 40_000;
const WORDS = ["All ", "of ", "it ", "is ", "done", "."];

/** Each seed has some kinds of faults only, and none of the others: so rare combinations come, and plain ones too. */
export function planOf(random: Random): Plan {
  const isFile = random.happens(0.3);
  const names = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, (_, index) => `model-${index + 1}`);
  return {
    isFile,
    nodes: random.pick([1, 2, 2, 2, 3]),
    runsMax: random.pick([1, 4, 4]),
    database: databaseFaults(random, isFile),
    network: {
      lost: someOf(random, [0.1, 0.5, 1]),
      doubled: someOf(random, [0.2]),
      late: someOf(random, [0.1, 0.5]),
    },
    outside: {
      refused: someOf(random, [0.1]),
      broken: someOf(random, [0.1, 0.3]),
      latencyMs: random.pick([5, 50, 400, 1_500]),
      toolMs: random.pick([5, 100, 2_000, 10_000]),
    },
    intentions: names.map((model) => intentionOf(random, model)),
    scripts: new Map(names.map((model) => [model, scriptOf(random)])),
    faults: faultsOf(random),
    faultySteps: FAULTY_STEPS_MAX,
  };
}

/** None in most seeds. */
function someOf(random: Random, shares: readonly number[]): number {
  return random.happens(0.3) ? random.pick(shares) : 0;
}

function databaseFaults(random: Random, isFile: boolean): DatabaseFaults {
  return {
    refused: someOf(random, [0.01, 0.05, 0.2]),
    // A commit to a file has no reply that can be lost.
    unanswered: isFile ? 0 : someOf(random, [0.01, 0.05, 0.2]),
    undone: isFile ? 0 : someOf(random, [0.01, 0.05]),
    latencyMs: random.pick([1, 5, 30]),
    slow: someOf(random, [0.05]),
    slowMs: 2_000,
  };
}

function intentionOf(random: Random, model: string): Intention {
  const background = random.happens(0.65);
  return {
    model,
    key: random.happens(0.5) ? `key of ${model}`.replaceAll(" ", "-") : null,
    background,
    stream: random.happens(0.7),
    beginsAt: random.between(200, 3_000),
    cancelsAfter: random.happens(0.12) ? random.between(0, 5_000) : null,
    leaves: someOf(random, [0.3, 0.8]),
    readers: background ? random.pick([0, 1, 1, 2]) : 0,
    counts: random.happens(0.5),
  };
}

function scriptOf(random: Random): Script {
  const turns = Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, () =>
    Array.from({ length: random.pick([1, 1, 2]) }, (): FunctionName => random.pick(["pay", "pay", "look", "compute"])),
  );
  return { turns, words: WORDS.slice(random.below(WORDS.length - 1)) };
}

function faultsOf(random: Random): readonly PlannedFault[] {
  const faults: PlannedFault[] = [];
  const within = random.pick(FAULT_STEPS);
  const times = (most: number): number => (random.happens(0.55) ? random.below(most) + 1 : 0);
  const add = (type: PlannedFault["type"], count: number, ms: () => number = () => 0): void => {
    for (let left = count; left > 0; left -= 1) faults.push({ type, atStep: random.below(within), ms: ms() });
  };
  // About as long as a lease, a moment, or anything.
  const pauseMs = (): number => {
    const [least, most] = random.pick([
      [14_000, 24_000],
      [0, 3_000],
      [0, PAUSE_MS_MAX],
    ] as const);
    return random.between(least, most);
  };
  add("crash", times(3));
  add("replace", random.happens(0.3) ? times(2) : 0);
  add("freeze", random.happens(0.5) ? times(2) : 0, pauseMs);
  add("cut off", random.happens(0.4) ? times(2) : 0, pauseMs);
  return faults.toSorted((one, other) => one.atStep - other.atStep);
}
