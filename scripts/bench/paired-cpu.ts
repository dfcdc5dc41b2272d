import type { LoadGenerator } from "./load-generator.ts";
import { cpuOfTree } from "./processes.ts";
import type { Asked, Side } from "./sides.ts";
import { median } from "./statistics.ts";

const ROUNDS = 25;
const WARM_UP = 8000;

export interface PairedRow {
  readonly title: string;
  readonly asked: Asked;
  /** What the processor time is divided by. */
  readonly units: number;
}

const JSON_COUNT = 1600;
const STREAMS = 512;
const TOKENS = 200;

/** A plain request, and tokens of streams. */
export const PAIRED_ROWS: readonly PairedRow[] = [
  {
    title: "JSON request, 16 at once",
    asked: { shape: { tokens: 20, perWrite: 20 }, isStreamed: false, count: JSON_COUNT, atOnce: 16 },
    units: JSON_COUNT,
  },
  {
    title: "1,000 token events, 64 streams",
    asked: { shape: { tokens: TOKENS, perWrite: 4 }, count: STREAMS, atOnce: 64 },
    units: (STREAMS * TOKENS) / 1000,
  },
];

/** Sends each side what compiles its code. */
export async function warmUp(load: LoadGenerator, sides: readonly Side[]): Promise<void> {
  for (const side of sides)
    await load.performWell(
      side.job({ ...PAIRED_ROWS[0]?.asked, shape: { tokens: 20, perWrite: 20 }, count: WARM_UP, atOnce: 16 }),
    );
}

interface ComparedSides {
  readonly base: { readonly name: string; readonly side: Side };
  readonly others: Readonly<Record<string, Side>>;
  readonly ratioMax: number;
}

/**
 * Asks all sides in turn, the base first in every other round, and prints the processor time of the others as the
 * median ratio of the rounds.
 */
export async function printPaired(
  { title, asked, units }: PairedRow,
  { base, others, ratioMax }: ComparedSides,
  load: LoadGenerator,
): Promise<void> {
  const ofBase: number[] = [];
  const ofOthers = new Map(Object.keys(others).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const measureBase = async (): Promise<unknown> => ofBase.push(await cpuMs(base.side, load, asked));
    const isBaseFirst = round % 2 === 0;
    if (isBaseFirst) await measureBase();
    for (const [name, side] of Object.entries(others)) ofOthers.get(name)?.push(await cpuMs(side, load, asked));
    if (!isBaseFirst) await measureBase();
  }
  const shown = (values: readonly number[]): string => (median(values) / units).toFixed(3);
  for (const [name, times] of ofOthers) {
    const ratio = median(times.map((ms, round) => ms / (ofBase[round] ?? Number.NaN)));
    console.log(
      `${title}: CPU ms by ${name} ${shown(times)}, by ${base.name} ${shown(ofBase)}, ${ratio.toFixed(3)} times (at most ${ratioMax})`,
    );
  }
}

async function cpuMs(side: Side, load: LoadGenerator, asked: Asked): Promise<number> {
  const before = cpuOfTree(side.pid);
  await load.performWell(side.job(asked));
  return cpuOfTree(side.pid) - before;
}
