import type { CodeAbilities, SessionEnd } from "@antiphon/domain/containers.ts";

/** Why a session ended, if its code did not end it. */
export type SessionKill =
  | SessionEnd
  /** Its response ended. */
  | "cancelled"
  /** It was idle, and its place was needed. */
  | "displaced"
  /** Another process has run code in its container since. */
  | "outdated"
  /** Its container expired or was deleted. */
  | "gone"
  /** The server stops. */
  | "closed";

/** Observes sessions. */
export interface SessionObserver {
  /** The number of sessions in this engine, including those that are starting or ending. */
  countSessions(sessions: number, engine: CodeAbilities["engine"]): void;
  noteEnd(reason: SessionKill): void;
}
