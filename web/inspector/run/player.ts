import { useEffect, useRef, useState } from "react";
import type { LoggedEvent } from "./run-log.ts";

export const SPEEDS = [0.25, 1, 4, 16] as const;

/** Where a run is shown, and whether it moves. */
export interface Player {
  /** Index of the event after which the run is shown; -1 before the first. */
  readonly position: number;
  /** Whether the position follows the newest event. */
  readonly isFollowing: boolean;
  readonly isPlaying: boolean;
  readonly speed: number;
  /** Whether long pauses of the run are played shorter. */
  readonly isShortened: boolean;
  readonly seek: (index: number) => void;
  /** Plays from the position, or from the start if that is the end, at the speed at which it happened. */
  readonly play: () => void;
  readonly pause: () => void;
  /** Goes to the newest event, and follows. */
  readonly follow: () => void;
  readonly setSpeed: (speed: number) => void;
  readonly setShortened: (isShortened: boolean) => void;
}

type Mode = { readonly is: "following" } | { readonly is: "paused" | "playing"; readonly at: number };

/** If pauses are shortened, each is played as at most this long. */
const SHORTENED_GAP_MS = 1_000;
/** Between events without a time. */
const GAP_MS_UNKNOWN = 15;

export function usePlayer(events: readonly LoggedEvent[]): Player {
  const [mode, setMode] = useState<Mode>({ is: "following" });
  const [speed, setSpeed] = useState(1);
  const [isShortened, setShortened] = useState(false);
  /** Time of the run that was not played yet. */
  const debtMs = useRef(0);
  /** When the last frame was drawn, so that the time that drawing takes is played too. */
  const drawnAt = useRef(0);
  const last = events.length - 1;
  const position = mode.is === "following" ? last : Math.min(mode.at, last);

  useEffect(() => {
    if (mode.is !== "playing") return undefined;
    let { at } = mode;
    let frame = 0;
    const gapMsMax = isShortened ? SHORTENED_GAP_MS : Number.POSITIVE_INFINITY;
    const draw = (nowMs: number): void => {
      debtMs.current += Math.max(0, nowMs - drawnAt.current) * speed;
      drawnAt.current = Math.max(nowMs, drawnAt.current);
      let gapMs = gapAfter(events, at, gapMsMax);
      while (at < last && debtMs.current >= gapMs) {
        debtMs.current -= gapMs;
        at += 1;
        gapMs = gapAfter(events, at, gapMsMax);
      }
      if (at !== mode.at) setMode({ is: at >= last ? "paused" : "playing", at });
      else frame = requestAnimationFrame(draw);
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [mode, speed, isShortened, events, last]);

  return {
    position,
    isFollowing: mode.is === "following",
    isPlaying: mode.is === "playing",
    speed,
    isShortened,
    seek: (index) => setMode({ is: "paused", at: Math.max(-1, Math.min(last, index)) }),
    play: () => {
      debtMs.current = 0;
      drawnAt.current = performance.now();
      setMode({ is: "playing", at: position >= last ? -1 : position });
    },
    pause: () => setMode({ is: "paused", at: position }),
    follow: () => setMode({ is: "following" }),
    setSpeed,
    setShortened,
  };
}

function gapAfter(events: readonly LoggedEvent[], index: number, gapMsMax: number): number {
  const before = events[index]?.atMs ?? 0;
  const after = events[index + 1]?.atMs ?? null;
  return after === null ? GAP_MS_UNKNOWN : Math.min(gapMsMax, Math.max(0, after - before));
}
