import type { HostedCall, HostedItem, HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { CallResult } from "./hosted-run.ts";

/** A call that the model is writing or has written. */
export interface StartedCall {
  /** Adds a piece of the arguments. */
  add(piece: string): void;
  /** Resolves once a reader has read its shown arguments, but at once if other calls are in front. */
  read(): Promise<void>;
  /**
   * The arguments are complete, or were cut. `ended`: whether the turn has ended well. Returns the call as the model
   * made it; null if it was cut.
   */
  end(isCut: boolean, end: Promise<boolean>): HostedCall | null;
  /** The result. Call it after `end`. */
  result(): Promise<CallResult>;
  /** The id of its item; null if the item begins only when the call runs, or if there is none. */
  readonly itemId: string | null;
  /** As in `MadeRun`. */
  readonly refusal: string | null;
  /** Whether its tool was ended before, because its calls had no new results. */
  readonly isOver: boolean;
}

/** The model's view of a step, and whether the client must answer before the model can continue. */
export interface SettledStep {
  readonly items: readonly ContextItem[];
  readonly asks: boolean;
  /** The last form of the item of a call. */
  readonly item: HostedItem | null;
}

/** An approved call that has run. */
export interface RunApproval {
  readonly approvalRequestId: string | null;
  readonly call: HostedCall;
  readonly output: HostedOutput | null;
  /** Whether the call asks the client something. */
  readonly asks: boolean;
  readonly item: HostedItem | null;
}
