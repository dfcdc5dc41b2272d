import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { residentBytes } from "./processes.ts";
import type { Server } from "./servers.ts";
import { slopeOf } from "./statistics.ts";

const MEGABYTE = 1_000_000;
/** What the second half may add to the resident memory: the greater of a share of it and a number of megabytes. */
const GROWTH_SHARE_MAX = 0.05;
const GROWTH_MB_MAX = 15;

/** Memory and file size of a server over a course: seconds, requests, or whatever else goes on. */
export class MemoryCourse {
  readonly #server: Server;
  readonly #unit: string;
  readonly #points: { readonly x: number; readonly y: number }[] = [];

  constructor(server: Server, unit: string) {
    this.#server = server;
    this.#unit = unit;
  }

  /** Prints a line with the figures at `x`. */
  sample(x: number, note = ""): void {
    const memory = residentBytes(this.#server.pid) / MEGABYTE;
    this.#points.push({ x, y: memory });
    const files = bytesIn(this.#server.folder) / MEGABYTE;
    console.log(`  ${x} ${this.#unit}: RSS ${memory.toFixed(0)} MB, files ${files.toFixed(0)} MB${note}`);
  }

  /** Whether the memory was flat in the second half, by the line that fits it best. Prints it. */
  judge(): boolean {
    const half = this.#points.slice(Math.floor(this.#points.length / 2));
    const first = half.at(0);
    const last = half.at(-1);
    if (first === undefined || last === undefined) return true;
    const growth = slopeOf(half) * (last.x - first.x);
    const isFlat = growth <= Math.max(GROWTH_MB_MAX, first.y * GROWTH_SHARE_MAX);
    console.log(
      `  memory is ${isFlat ? "flat" : "growing"}: ${growth.toFixed(1)} MB from ${first.x} to ${last.x} ${this.#unit}`,
    );
    return isFlat;
  }
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce(
    (sum, { parentPath, name }) => sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
