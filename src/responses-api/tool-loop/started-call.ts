import type { HostedCall, HostedOutput } from "../../runs/hosted.ts";
import type { ContextItem } from "../../runs/request/model-request.ts";
import type { CallResult } from "./hosted-run.ts";

/** A call that the model is writing or has written. */
export interface StartedCall {
  /** Adds a piece of the arguments. */
  add(piece: string): void;
  /** Resolves once a reader has taken what is shown of them, but at once if other calls are in front of this one. */
  read(): Promise<void>;
  /**
   * The arguments are whole, or were cut off. `ended` tells whether the turn has ended well. Returns the call as the
   * model made it; null if it was cut off.
   */
  end(isCut: boolean, ended: Promise<boolean>): HostedCall | null;
  /** How it came out. Call it after `end`. */
  result(): Promise<CallResult>;
  /** The id of its item; null if that begins only when it runs, or if there is none. */
  readonly itemId: string | null;
  /** As in `MadeRun`. */
  readonly refusal: string | null;
  /** Whether its tool was ended before, because its calls brought nothing new. */
  readonly isOver: boolean;
}

/** What the model is shown of a step, and whether the client has to answer before the model can go on. */
export interface SettledStep {
  readonly items: readonly ContextItem[];
  readonly asks: boolean;
}

/** An approved call that has run. */
export interface RunApproval {
  readonly approvalRequestId: string | null;
  readonly call: HostedCall;
  readonly output: HostedOutput | null;
}
