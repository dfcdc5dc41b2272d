import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { checkOutBase } from "./base-checkout.ts";
import { cleanUp } from "./clean-up.ts";
import { LoadGenerator } from "./load-generator.ts";
import { startServer, startUpstream, THIS_TREE, type Upstream } from "./servers.ts";
import { serverSide } from "./sides.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 20);
const STREAMS = 256;
const TOKENS = [1000, 2000];

/** Counts streams without a terminal event while every core has other work too. Sets the exit code if there is one. */
export async function measureOverload(): Promise<void> {
  const base = checkOutBase();
  const upstream = await startUpstream();
  const others = Array.from({ length: availableParallelism() }, startBusyLoop);
  console.log(
    `\noverload: ${STREAMS} streams of ${TOKENS.join(" and ")} tokens, ${ROUNDS} rounds, ${others.length} busy loops beside`,
  );
  try {
    if (base !== null) await count(`base ${base.name}`, base.root, upstream);
    await count("this tree", THIS_TREE, upstream);
  } finally {
    for (const stop of others) stop();
    upstream.stop();
    base?.remove();
  }
}

/** Returns a function that ends it. */
function startBusyLoop(): () => void {
  const child = spawn(process.execPath, ["-e", "for (;;) Math.random();"], { stdio: "ignore" });
  return cleanUp(() => child.kill("SIGKILL"));
}

async function count(name: string, root: string, upstream: Upstream): Promise<void> {
  const server = await startServer({ root, upstream });
  const load = new LoadGenerator();
  const side = serverSide(server, { stores: true });
  const total = { whole: 0, lost: 0 };
  const reasons: string[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1)
      for (const tokens of TOKENS) {
        const outcome = await load.perform(
          side.job({ shape: { tokens, perWrite: 4 }, count: STREAMS, atOnce: STREAMS }),
        );
        total.whole += outcome.whole;
        total.lost += outcome.unended + outcome.failed;
        reasons.push(...outcome.reasons);
      }
  } finally {
    load.stop();
    server.stop();
  }
  console.log(`  ${name}: ${total.whole} streams ended with response.completed, ${total.lost} did not`);
  for (const reason of reasons.slice(0, 5)) console.log(`    ${reason.replaceAll("\n", " ")}`);
  if (total.lost > 0) process.exitCode = 1;
}
