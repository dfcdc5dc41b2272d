import type { Config, Environment } from "../config/load-config.ts";
import { secretsOf } from "../config/secrets-of.ts";
import { forkProcess } from "../processes/forked-process.ts";
import { Primary } from "../processes/primary.ts";
import { serviceManagerOf } from "../programs/service-manager.ts";
import { openLog } from "../telemetry/log/log.ts";
import { MetricsOfMany } from "../telemetry/metrics-of-many.ts";
import { isReadable, lineRewriter } from "./log-format.ts";

/** How long a process may take to close its files and connections after it has drained, in milliseconds. */
const CLOSE_MS_MAX = 30_000;

/** Serves with several processes until told to stop, and then ends with their exit code. */
export async function serveProcesses(environment: Environment, config: Config): Promise<never> {
  const rewrite = await lineRewriter(config);
  const root = openLog({ level: config.logLevel, secrets: secretsOf(config), node: config.nodeName, rewrite });
  const log = root.child({ process: "primary" });
  const manager = serviceManagerOf(environment, log);
  const primary = new Primary({
    count: config.processes,
    // Their output comes through this process, so they cannot see the terminal.
    fork: () => forkProcess(config.sockets.fds, { LOG_FORMAT: isReadable(config) ? "readable" : "json" }),
    metrics: new MetricsOfMany(),
    log,
    leaveMs: config.drainDelayMs + config.drainMs + CLOSE_MS_MAX,
    finishMs: config.restartDrainMs + CLOSE_MS_MAX,
    overlapMs: config.drainMs,
    onServing: (greetings) => {
      for (const line of greetings.flatMap(({ lines }) => lines)) console.log(line);
      console.log(`Processes          ${config.processes}`);
      manager.ready(`Serving with ${config.processes} processes`);
    },
    onLine: (line) => console.log(line),
  });
  const stop = (): void => {
    manager.stopping();
    primary.stop();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop());
  process.on("SIGHUP", () => primary.restart());
  const exitCode = await primary.run();
  log.flush();
  process.exit(exitCode);
}
