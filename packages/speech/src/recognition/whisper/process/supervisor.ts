import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import { describeEnd, type EngineCommand, EngineProcess, EngineStartError } from "./engine-process.ts";

export interface SupervisorOptions {
  readonly command: EngineCommand;
  /** Tests a new engine before use; if it rejects, the start has failed. */
  readonly tryOut: (engine: EngineProcess, signal: AbortSignal) => Promise<void>;
  readonly onReady: (engine: EngineProcess) => void;
  /** The engine ended and restarts soon. */
  readonly onRestart: () => void;
  /** The engine keeps failing and restarts only after a long pause. `reason` is a sentence without a full stop. */
  readonly onFailure: (reason: string) => void;
  readonly log: Logger;
}

/** Keeps one engine running until the signal aborts, then stops it. Rejects with the signal's reason. */
export async function superviseEngine(options: SupervisorOptions, signal: AbortSignal): Promise<never> {
  const endsMs: number[] = [];
  let startsInVain = 0;
  for (;;) {
    const { wasReady, reason } = await runOnce(options, signal);
    signal.throwIfAborted();
    startsInVain = wasReady ? 0 : startsInVain + 1;
    endsMs.push(Date.now());
    const next = nextStart(endsMs, startsInVain, Date.now());
    if (next.type === "rest") options.onFailure(reason);
    else options.onRestart();
    options.log.warn({ reason, pauseMs: next.pauseMs }, "restarting speech engine");
    await sleep(next.pauseMs, undefined, { signal });
    endsMs.splice(0, Math.max(0, endsMs.length - ENDS_KEPT));
  }
}

const ENDS_KEPT = 100;
const END_MS_MAX = 1000;

async function runOnce(
  options: SupervisorOptions,
  signal: AbortSignal,
): Promise<{ readonly wasReady: boolean; readonly reason: string }> {
  const { command, tryOut, onReady, log } = options;
  const startedMs = performance.now();
  try {
    const engine = await EngineProcess.start(command, signal);
    const stop = (): void => engine.kill();
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (!(await survives(engine, tryOut(engine, signal)))) {
        await Promise.race([engine.exit, sleep(END_MS_MAX)]); // A crash breaks the connection before the exit is seen.
        engine.kill();
        return {
          wasReady: false,
          reason: `The speech engine fails with this model: ${describeEnd(await engine.exit)}`,
        };
      }
      log.info({ startMs: Math.round(performance.now() - startedMs), threads: command.threads }, "speech engine ready");
      onReady(engine);
      const end = await engine.exit;
      if (!signal.aborted) log.warn({ status: end.status, outputTail: end.outputTail }, "speech engine ended");
      return { wasReady: true, reason: `The speech engine keeps exiting: ${describeEnd(end)}` };
    } finally {
      signal.removeEventListener("abort", stop);
      engine.kill();
      await engine.exit;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EngineStartError) return { wasReady: false, reason: error.message };
    throw error;
  }
}

async function survives(engine: EngineProcess, trial: Promise<void>): Promise<boolean> {
  const success = trial.then(
    () => true,
    () => false,
  );
  return Promise.race([success, engine.exit.then(() => false)]);
}

const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;
const REST_MS = 10_000;

/** An engine that ends more often within a minute counts as failed and restarts after `REST_MS`. */
const ENDS_IN_A_MINUTE_MAX = 10;
/** After this many consecutive failed starts the engine counts as failed. */
const STARTS_IN_VAIN_MAX = 3;

type Restart =
  | { readonly type: "soon"; readonly pauseMs: number }
  | { readonly type: "rest"; readonly pauseMs: number };

/**
 * When to restart an engine that has ended. `endsMs` holds the times at which it ended, in order and with the latest.
 * `startsInVain` counts its latest consecutive failed starts.
 */
export function nextStart(endsMs: readonly number[], startsInVain: number, nowMs: number): Restart {
  const recent = endsMs.filter((endMs) => nowMs - endMs < WINDOW_MS).length;
  if (startsInVain >= STARTS_IN_VAIN_MAX || recent > ENDS_IN_A_MINUTE_MAX) return { type: "rest", pauseMs: REST_MS };
  const setbacks = Math.max(recent - 1, startsInVain);
  const pauseMs = setbacks === 0 ? 0 : Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** (setbacks - 1));
  return { type: "soon", pauseMs };
}
