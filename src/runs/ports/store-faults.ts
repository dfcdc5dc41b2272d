/** Another process locked the database beyond the maximum wait. Nothing was changed. */
export class StoreBusy extends Error {
  override readonly name: string = "StoreBusy";
}

/** The database is another program and did not respond in time. The statement may have been executed. */
export class StoreAway extends StoreBusy {
  override readonly name = "StoreAway";
}

/**
 * Another worker has claimed the run, or it was deleted. This worker can no longer store its events and must not show
 * more.
 */
export class RunLost extends Error {
  override readonly name: string = "RunLost";
}

/** The run waits. Any worker may continue it once it is due. */
export class RunSuspended extends RunLost {
  override readonly name = "RunSuspended";
  /** How long nobody continues it, in milliseconds. */
  readonly pauseMs: number;
  /** The attempts so far. */
  readonly attempts: TurnAttempts;

  constructor(pauseMs: number, attempts: TurnAttempts) {
    super("the run waits until its model can be asked again");
    this.pauseMs = pauseMs;
    this.attempts = attempts;
  }
}

/** The run is paused. Any worker may continue it once it is resumed. */
export class RunPaused extends RunLost {
  override readonly name = "RunPaused";

  constructor() {
    super("the run is paused");
  }
}

/** The attempts at a model turn. Stored with a waiting run, so plain JSON. */
export interface TurnAttempts {
  /** The turn, from 1. */
  readonly turn: number;
  /** How often it failed. */
  readonly failures: number;
  /** The time of the first failure, in Unix milliseconds. */
  readonly since: number;
}

/**
 * The store stopped while writing, or was down for too long. It is unknown whether the events are stored, so the run is
 * left to the worker that claims it.
 */
export class StoreStopped extends RunLost {
  override readonly name = "StoreStopped";
}
