import { type ServiceManager, serviceManagerOf } from "@antiphon/programs/service-manager.ts";
import { startInBackground } from "@antiphon/programs/start-in-background.ts";
import type { Config, Environment } from "../config/load-config.ts";
import { secretsOf } from "../config/secrets-of.ts";
import { forkProcess } from "../processes/forked-process.ts";
import type { Greeting } from "../processes/messages.ts";
import { otherPrimary, predecessorOf, successorCommand } from "../processes/other-primaries.ts";
import { Primary } from "../processes/primary.ts";
import { isSuperseded } from "../processes/release.ts";
import { Succession } from "../processes/succession.ts";
import { openLog, type RootLog } from "../telemetry/log/log.ts";
import { MetricsOfMany } from "../telemetry/metrics-of-many.ts";
import { programVersion } from "../version/program-version.ts";
import { isReadable, lineRewriter } from "./log-format.ts";
import { warnOfNearMisses } from "./near-misses.ts";
import { joinedLines } from "./start-banner.ts";

/** How long a process may take to close its files and connections after draining, in milliseconds. */
const CLOSE_MS_MAX = 30_000;

/** Serves with several processes until stopped, then exits with their exit code. */
export async function serveProcesses(environment: Environment, config: Config): Promise<never> {
  const rewrite = await lineRewriter(config);
  const root = openLog({ level: config.logLevel, secrets: secretsOf(config), node: config.nodeName, rewrite });
  const log = root.child({ process: "primary" });
  warnOfNearMisses(environment, log);
  const manager = serviceManagerOf(environment, log);
  const predecessor = predecessorOf(environment);
  const status = `Serving ${programVersion()} with ${config.processes} processes`;
  const serving = (greetings: readonly Greeting[]): void => {
    for (const line of joinedLines(greetings.flatMap(({ lines }) => lines))) console.log(line);
    console.log(`Processes          ${config.processes}`);
    if (predecessor === null) manager.ready(status);
    else manager.takeOver(status);
    succession.serving();
  };
  const primary = primaryOf(config, log, serving);
  const succession = new Succession({
    primary,
    predecessor,
    startSuccessor: () => {
      const { command, variables } = successorCommand();
      return otherPrimary(startInBackground(command, config.sockets.fds, variables));
    },
    onSucceeded: () => manager.fallSilent(),
    onRetired: standStill,
    onFailed: () => manager.describe(`${status}; the new release did not start`),
    log,
  });
  obeySignals({ primary, succession, manager, canHandOver: config.sockets.fds.length > 0, log });
  const exitCode = await primary.run();
  await succession.waitForOthers();
  log.flush();
  process.exit(exitCode);
}

function primaryOf(config: Config, log: RootLog, onServing: (greetings: readonly Greeting[]) => void): Primary {
  return new Primary({
    count: config.processes,
    // Their output passes through this process, so they cannot see the terminal.
    fork: () => forkProcess(config.sockets.fds, { LOG_FORMAT: isReadable(config) ? "readable" : "json" }),
    metrics: new MetricsOfMany(),
    log,
    leaveMs: config.drainDelayMs + config.drainMs + CLOSE_MS_MAX,
    finishMs: config.restartDrainMs + CLOSE_MS_MAX,
    overlapMs: config.drainMs,
    onServing,
    onLine: (line) => console.log(line),
  });
}

/** How long a retiring primary blocks, in milliseconds. */
const STAND_STILL_MS = 1_000;

/**
 * A primary accepts connections while one of its processes listens. A connection accepted after the last process began
 * to leave would hang. So the primary blocks until all have left, and its successor, which listens on the same sockets,
 * accepts meanwhile.
 */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STAND_STILL_MS);
}

interface Obeying {
  readonly primary: Primary;
  readonly succession: Succession;
  readonly manager: ServiceManager;
  /** Whether a service manager holds the sockets, so that two primaries can serve them. */
  readonly canHandOver: boolean;
  readonly log: RootLog;
}

/** A reload restarts the processes. If the program was upgraded, the primary is replaced too. */
function obeySignals({ primary, succession, manager, canHandOver, log }: Obeying): void {
  const stop = (): void => {
    manager.stopping();
    succession.stop();
  };
  const reload = (): void => {
    if (isSuperseded() && canHandOver) return succession.handOver();
    if (isSuperseded())
      log.warn({ version: programVersion() }, "the primary keeps running the old release until a restart");
    primary.restart();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
  process.on("SIGHUP", reload);
}
