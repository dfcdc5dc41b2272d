const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 5000;
const REST_MS = 10_000;

/** Beyond so many ends within a minute the engine rests, and says that it failed. */
const ENDS_IN_A_MINUTE_MAX = 10;
/** So many starts in a row that come to nothing mean that the next will not do better. */
const STARTS_IN_VAIN_MAX = 3;

export type Restart =
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
