/** Another process kept the database locked beyond the maximum wait. Nothing was changed. */
export class StoreBusy extends Error {
  override readonly name: string = "StoreBusy";
}

/** The database is another program, which did not answer in time. It may have carried out what it was asked. */
export class StoreAway extends StoreBusy {
  override readonly name = "StoreAway";
}

/** Another worker has claimed the run, or it was deleted. This worker can store no more of it and must show no more. */
export class RunLost extends Error {
  override readonly name: string = "RunLost";
}

/** The run waits, and any worker may go on with it once the time has come. */
export class RunSuspended extends RunLost {
  override readonly name = "RunSuspended";
  /** How long nobody goes on with it, in milliseconds. */
  readonly pauseMs: number;
  /** The attempts at its model so far. */
  readonly attempts: TurnAttempts;

  constructor(pauseMs: number, attempts: TurnAttempts) {
    super("the run waits until its model can be asked again");
    this.pauseMs = pauseMs;
    this.attempts = attempts;
  }
}

/** How often a turn of a model was tried. It is stored with a run that waits, so it is plain JSON. */
export interface TurnAttempts {
  /** The turn, from 1. */
  readonly turn: number;
  /** How often it failed. */
  readonly failures: number;
  /** When it failed first, in Unix milliseconds. */
  readonly since: number;
}

/**
 * The store ended while it worked, or was away for too long. It is unknown whether the events are stored, so the run is
 * left to the worker that claims it.
 */
export class StoreStopped extends RunLost {
  override readonly name = "StoreStopped";
}
