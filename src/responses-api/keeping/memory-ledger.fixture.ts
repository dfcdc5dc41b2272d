import type { ResponseNote } from "../../../generated/responses-api/types.ts";
import type { RunLedger, UnmadeRuns } from "../../runs/ports.ts";

/** A ledger of a process that is alone and holds all runs. */
export class MemoryLedger implements RunLedger {
  readonly notes: ResponseNote[] = [];

  async listUnmade(): Promise<UnmadeRuns> {
    return { runs: [], workers: 1, taskVersion: 1 };
  }

  async claim(): Promise<readonly never[]> {
    return [];
  }

  async addNote(_responseId: string, note: ResponseNote): Promise<void> {
    this.notes.push(note);
  }

  async renewLease(): Promise<boolean> {
    return true;
  }

  async countWaiting(): Promise<number> {
    return 0;
  }

  async listHeld(): Promise<readonly never[]> {
    return [];
  }

  async listStopRequests(): Promise<readonly never[]> {
    return [];
  }

  async countRestart(): Promise<void> {}
  async release(): Promise<void> {}
  async requestStop(): Promise<void> {}
}
