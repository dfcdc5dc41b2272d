import { ONSET_FRAMES } from "../recognition/segmenter.ts";
import { FRAME_MS } from "../recognition/voice-activity.ts";

/** When a turn begins and ends, in milliseconds. */
export interface TurnRules {
  /** Sound before the first voice that belongs to the turn. */
  readonly prefixMs: number;
  /** The pause that ends a turn. */
  readonly silenceMs: number;
  /** So much sound without a voice ends the wait for one; null if nothing does. */
  readonly idleMs: number | null;
}

/** What a frame changes. Times are from the start of the sound. */
export type TurnChange =
  | { readonly type: "started"; readonly startMs: number }
  | { readonly type: "stopped"; readonly endMs: number }
  | { readonly type: "idle"; readonly startMs: number; readonly endMs: number };

/** A longer turn ends by itself. */
export const TURN_MS_MAX = 10 * 60_000;

/** Finds the turns of a sound, frame by frame, by counting. */
export class TurnDetector {
  readonly #rules: TurnRules;
  #nowMs: number;
  #isSpeaking: boolean;
  /** Consecutive voiced frames while nobody speaks; consecutive unvoiced ones while somebody does. */
  #run = 0;
  #startMs: number;
  /** The end of the latest turn: no turn begins before it. */
  #endMs: number;

  /** Goes on at `nowMs`, within a turn if `isSpeaking`. */
  constructor(rules: TurnRules, nowMs: number, isSpeaking: boolean) {
    this.#rules = rules;
    this.#nowMs = nowMs;
    this.#startMs = nowMs;
    this.#endMs = nowMs;
    this.#isSpeaking = isSpeaking;
  }

  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  /** How long the pause in the turn lasts already; 0 if nobody speaks. */
  get pauseMs(): number {
    return this.#isSpeaking ? this.#run * FRAME_MS : 0;
  }

  push(isVoiced: boolean): TurnChange | null {
    this.#nowMs += FRAME_MS;
    this.#run = isVoiced === this.#isSpeaking ? 0 : this.#run + 1;
    return this.#isSpeaking ? this.#endOfTurn() : this.#startOfTurn();
  }

  /** Ends the turn here. */
  stop(): void {
    this.#isSpeaking = false;
    this.#run = 0;
    this.#endMs = this.#nowMs;
  }

  #endOfTurn(): TurnChange | null {
    const isLong = this.#nowMs - this.#startMs >= TURN_MS_MAX;
    if (!isLong && this.#run * FRAME_MS < Math.max(FRAME_MS, this.#rules.silenceMs)) return null;
    this.stop();
    return { type: "stopped", endMs: this.#nowMs };
  }

  #startOfTurn(): TurnChange | null {
    const { prefixMs, idleMs } = this.#rules;
    if (this.#run >= ONSET_FRAMES) {
      this.#isSpeaking = true;
      this.#startMs = Math.max(this.#endMs, this.#nowMs - this.#run * FRAME_MS - prefixMs);
      this.#run = 0;
      return { type: "started", startMs: this.#startMs };
    }
    if (idleMs === null || this.#nowMs - this.#endMs < idleMs) return null;
    const startMs = this.#endMs;
    this.#endMs = this.#nowMs;
    return { type: "idle", startMs, endMs: this.#nowMs };
  }
}
