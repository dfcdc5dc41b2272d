import { availableParallelism } from "node:os";
import { nameOfThisTree } from "../check-out.ts";
import { type Checkout, checkOutBase } from "./base-checkout.ts";
import { LoadGenerator } from "./load-generator.ts";
import type { Figure, Row } from "./rows.ts";
import { type Server, startServer, startUpstream, THIS_TREE, type Upstream } from "./servers.ts";
import { type Side, serverSide, upstreamSide } from "./sides.ts";
import { median } from "./statistics.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5);
/** For rows that start servers for each sample. */
const ROUNDS_WITH_NEW_SERVERS = Math.min(ROUNDS, 3);
const TITLE_WIDTH = 48;
const COLUMN_WIDTH = 12;

const COLUMNS = ["base", "tree", "store:false", "upstream"] as const;
type Column = (typeof COLUMNS)[number];

/** The values of a row's figures in one round, by column. */
type Round = ReadonlyMap<Column, readonly number[]>;

interface Place {
  readonly base: Checkout | null;
  readonly upstream: Upstream;
  readonly load: LoadGenerator;
}

/** Prints the rows beside the commit before and the bare upstream. Rounds alternate, so noise affects all alike. */
export async function measureTable(rows: readonly Row[]): Promise<void> {
  const place = { base: checkOutBase(), upstream: await startUpstream(), load: new LoadGenerator() };
  try {
    printHead(place.base);
    for (const row of rows) printRow(row, await (row.needsNewServer === true ? newEach(row, place) : same(row, place)));
  } finally {
    place.load.stop();
    place.upstream.stop();
    place.base?.remove();
  }
}

function columnsOf({ base }: Place): readonly Column[] {
  return COLUMNS.filter((column) => column !== "base" || base !== null);
}

/** Measures with one server of each checkout, once they are warm. */
async function same(row: Row, place: Place): Promise<readonly Round[]> {
  const { upstream } = place;
  const base = place.base === null ? null : await startServer({ root: place.base.root, upstream });
  const tree = await startServer({ root: THIS_TREE, upstream });
  const sides = new Map<Column, Side>();
  if (base !== null) sides.set("base", serverSide(base, { stores: true }));
  sides.set("tree", serverSide(tree, { stores: true })).set("store:false", serverSide(tree, { stores: false }));
  sides.set("upstream", upstreamSide(upstream));
  try {
    for (const side of sides.values())
      await (row.warmUp === undefined ? row.measure(side, place.load) : row.warmUp(side, place.load));
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const values = new Map<Column, readonly number[]>();
      const order = [...sides];
      for (const [column, side] of round % 2 === 0 ? order : order.toReversed())
        values.set(column, await row.measure(side, place.load));
      rounds.push(values);
    }
    return rounds;
  } finally {
    base?.stop();
    tree.stop();
  }
}

async function newEach(row: Row, place: Place): Promise<readonly Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS_WITH_NEW_SERVERS; round += 1) {
    const values = new Map<Column, readonly number[]>();
    for (const column of columnsOf(place)) values.set(column, await withNew(column, row, place));
    rounds.push(values);
  }
  return rounds;
}

async function withNew(column: Column, row: Row, { base, load }: Place): Promise<readonly number[]> {
  const upstream = await startUpstream();
  let server: Server | null = null;
  try {
    if (column === "upstream") return await row.measure(upstreamSide(upstream), load);
    server = await startServer({ root: column === "base" && base !== null ? base.root : THIS_TREE, upstream });
    return await row.measure(serverSide(server, { stores: column !== "store:false" }), load);
  } finally {
    server?.stop();
    upstream.stop();
  }
}

function printHead(base: Checkout | null): void {
  const cores = availableParallelism();
  console.log(
    `Node ${process.version}; server, load generator and upstream share ${cores} cores; base ${base?.name ?? "none"}, tree ${nameOfThisTree()}; medians of ${ROUNDS} rounds, ${ROUNDS_WITH_NEW_SERVERS} for memory`,
  );
  const titles = [...COLUMNS, "must", "aim"];
  console.log(`${"".padEnd(TITLE_WIDTH)}${titles.map((title) => title.padStart(COLUMN_WIDTH)).join("")}`);
}

function printRow({ figures }: Row, rounds: readonly Round[]): void {
  figures.forEach((figure, index) => {
    const value = (column: Column): number =>
      median(rounds.map((values) => valueIn(values, column, index, figure)).filter((one) => !Number.isNaN(one)));
    const shown = [...COLUMNS.map(value), figure.must ?? Number.NaN, figure.aim ?? Number.NaN].map((one) =>
      show(one, figure),
    );
    console.log(`${figure.title.padEnd(TITLE_WIDTH)}${shown.join("")}  ${verdict(value("tree"), figure)}`);
  });
}

function valueIn(values: Round, column: Column, index: number, { isOverDirect = false }: Figure): number {
  const value = values.get(column)?.[index] ?? Number.NaN;
  const direct = values.get("upstream")?.[index] ?? Number.NaN;
  return isOverDirect && column !== "upstream" ? value - direct : value;
}

function show(value: number, { digits }: Figure): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return (Number.isNaN(value) ? "–" : value.toLocaleString("en", format)).padStart(COLUMN_WIDTH);
}

function verdict(value: number, { must, aim, isRate = false }: Figure): string {
  const reaches = (target: number): boolean => (isRate ? value >= target : value <= target);
  if (must === null) return "";
  if (aim !== null && reaches(aim)) return "met, and the aim";
  return reaches(must) ? "met" : "missed";
}
