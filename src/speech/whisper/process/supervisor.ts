import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../../base/logger.ts";
import { type EngineCommand, EngineProcess, EngineStartError, whyEnded } from "./engine-process.ts";

export interface SupervisorOptions {
  readonly command: EngineCommand;
  /** Asks a new engine something before it is shown to anyone; what it rejects with is a start in vain. */
  readonly tryOut: (engine: EngineProcess, signal: AbortSignal) => Promise<void>;
  readonly onReady: (engine: EngineProcess) => void;
  /** The engine is away, and will be started again soon. */
  readonly onRestart: () => void;
  /** The engine is away, and will be for a while. `reason`: a sentence without a full stop. */
  readonly onFailure: (reason: string) => void;
  readonly log: Logger;
}

/** Keeps one engine running until the signal aborts; then nothing of it is left. Rejects with the signal's reason. */
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
    options.log.warn({ reason, pauseMs: next.pauseMs }, "the speech engine is started anew");
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
        await Promise.race([engine.ended, sleep(END_MS_MAX)]); // A connection breaks before its process is seen to end.
        engine.kill();
        return { wasReady: false, reason: `The speech engine fails with this model: ${whyEnded(await engine.ended)}` };
      }
      log.info(
        { startMs: Math.round(performance.now() - startedMs), threads: command.threads },
        "the speech engine is ready",
      );
      onReady(engine);
      const end = await engine.ended;
      if (!signal.aborted) log.warn({ status: end.status, lastWords: end.lastWords }, "the speech engine ended");
      return { wasReady: true, reason: `The speech engine keeps ending: ${whyEnded(end)}` };
    } finally {
      signal.removeEventListener("abort", stop);
      engine.kill();
      await engine.ended;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EngineStartError) return { wasReady: false, reason: error.message };
    throw error;
  }
}

async function survives(engine: EngineProcess, trial: Promise<void>): Promise<boolean> {
  const passed = trial.then(
    () => true,
    () => false,
  );
  return Promise.race([passed, engine.ended.then(() => false)]);
}

const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;
const REST_MS = 10_000;

/** Beyond so many ends within a minute the engine rests, and says that it failed. */
const ENDS_IN_A_MINUTE_MAX = 10;
/** So many starts in a row that come to nothing mean that the next will not do better. */
const STARTS_IN_VAIN_MAX = 3;

type Restart =
  | { readonly type: "soon"; readonly pauseMs: number }
  | { readonly type: "rest"; readonly pauseMs: number };

/**
 * What to do about an engine that has ended. `endsMs`: when it did, the last time included, in order.
 * `startsInVain`: how many of its last starts did not make it ready.
 */
export function nextStart(endsMs: readonly number[], startsInVain: number, nowMs: number): Restart {
  const recent = endsMs.filter((endMs) => nowMs - endMs < WINDOW_MS).length;
  if (startsInVain >= STARTS_IN_VAIN_MAX || recent > ENDS_IN_A_MINUTE_MAX) return { type: "rest", pauseMs: REST_MS };
  const setbacks = Math.max(recent - 1, startsInVain);
  const pauseMs = setbacks === 0 ? 0 : Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** (setbacks - 1));
  return { type: "soon", pauseMs };
}
