import { LoadGenerator } from "./load-generator.ts";
import { MemoryCourse } from "./memory-course.ts";
import { startServer, startUpstream, THIS_TREE } from "./servers.ts";
import { type Asked, serverSide } from "./sides.ts";

const STEPS = 20;

interface Course {
  readonly unit: string;
  readonly total: number;
  readonly load: Omit<Asked, "count">;
}

const COURSES: readonly Course[] = [
  {
    unit: "stored responses",
    total: 100_000,
    load: { shape: { tokens: 20, perWrite: 20 }, isStreamed: false, atOnce: 16 },
  },
  {
    unit: "aborted streams",
    total: 10_000,
    load: { shape: { tokens: 500, perWrite: 4 }, atOnce: 16, atText: "close" },
  },
];

/** Shows whether memory stays flat over many stored responses and many aborted streams. */
export async function measureFlatness(): Promise<void> {
  for (const { unit, total, load } of COURSES) {
    console.log(`\nmemory over ${total} ${unit}`);
    const upstream = await startUpstream();
    const server = await startServer({ root: THIS_TREE, upstream });
    const generator = new LoadGenerator();
    const course = new MemoryCourse(server, unit);
    try {
      const job = serverSide(server, { stores: true }).job({ ...load, count: total / STEPS });
      for (let step = 1; step <= STEPS; step += 1) {
        await generator.performWell(job);
        course.sample((step * total) / STEPS);
      }
      if (!course.judge()) process.exitCode = 1;
    } catch (error) {
      const fault = server.fault();
      if (fault === null) throw error;
      console.log(`  FAILED: ${fault}`);
      process.exitCode = 1;
    } finally {
      generator.stop();
      server.stop();
      upstream.stop();
    }
  }
}
