import { assertNever } from "@antiphon/base/assert.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { TakenSteers } from "../../../runs/ports/event-log.ts";
import { type EventBlock, lengthOfBlocks } from "../events/event-block.ts";
import {
  type ConversationChange,
  type ConversationEnd,
  type ConversationOutcome,
  sizeOfStep,
} from "../items/conversation-changes.ts";
import { type ItemText, lengthOfItems } from "../items/item-text.ts";
import { type LedgerChange, type LedgerOutcome, sizeOfLedgerStep } from "../ledger-rows.ts";
import type { EventOfEnd } from "../webhook-rows.ts";
import type { Ending, Origin, Snapshot } from "./response-columns.ts";

/** One change of the database. The caller creates the rows, so that an invalid job fails alone. */
export type WriteJob =
  | {
      readonly type: "open";
      readonly responseId: string;
      readonly owner: Owner;
      /** As in `OpenedRun`. */
      readonly claimedBy?: number | null;
      readonly snapshot: Snapshot;
      readonly origin: Origin;
      readonly task: string | null;
      readonly streamed: boolean;
      /** The conversation that the response is made in and has the lock of. */
      readonly conversationId: string | null;
      /** The inputs that it takes; null if it takes none. */
      readonly steers: TakenSteers | null;
      readonly items: readonly ItemText[];
      readonly events: readonly EventBlock[];
    }
  | { readonly type: "append"; readonly responseId: string; readonly events: readonly EventBlock[] }
  | {
      readonly type: "advance";
      readonly responseId: string;
      readonly snapshot: Snapshot;
      readonly events: readonly EventBlock[];
    }
  | {
      readonly type: "close";
      readonly responseId: string;
      readonly snapshot: Snapshot;
      readonly ending: Ending;
      readonly items: readonly ItemText[];
      readonly events: readonly EventBlock[];
      /** Null if the response was not made in a conversation. */
      readonly conversation: ConversationEnd | null;
      /** What endpoints of webhooks are told. */
      readonly news: readonly EventOfEnd[];
    }
  /** A run that was kept in memory until its end. */
  | {
      readonly type: "whole";
      readonly responseId: string;
      readonly owner: Owner;
      /** As in `OpenedRun`. */
      readonly claimedBy?: number | null;
      /** The final snapshot. */
      readonly snapshot: Snapshot;
      readonly origin: Origin;
      readonly ending: Ending;
      readonly streamed: boolean;
      /** The conversation locked by the response; null if it has none. */
      readonly conversation: ConversationEnd | null;
      /** As above. */
      readonly steers: TakenSteers | null;
      readonly inputItems: readonly ItemText[];
      readonly outputItems: readonly ItemText[];
      readonly events: readonly EventBlock[];
      /** As above. */
      readonly news: readonly EventOfEnd[];
    }
  /** Allows any worker to claim the run. */
  | ReleaseJob
  | { readonly type: "delete"; readonly responseId: string; readonly owner: Owner }
  | ({ readonly type: "conversation" } & ConversationChange)
  | ({ readonly type: "tool" } & LedgerChange);

/** Changes that may stand in a redo log: they can fail only if the run is lost. */
export type RedoJob = Extract<WriteJob, { readonly type: "open" | "append" }>;

/** The part of a commit whose jobs are in the redo log of a worker. */
export interface RedoPart {
  readonly worker: number;
  /** The part of the log that the jobs fill, in bytes since the log began. */
  readonly start: number;
  readonly end: number;
  /** The places of these jobs among those of the commit. */
  readonly places: readonly number[];
}

/** Changes of a stored run. They are retried, as the same objects, while the store is down. */
export type PatientJob = Extract<WriteJob, { readonly type: "append" | "advance" | "close" | "tool" }>;

/** As in `Release` of the run ledger; `attempts` is JSON. */
export interface ReleaseJob {
  readonly type: "release";
  readonly responseId: string;
  readonly hadBegun: boolean;
  readonly pauseMs: number | null;
  readonly attempts: string | null;
}

/**
 * `unchanged`: the response is unknown, has ended, was deleted, or belongs to another worker. `out_of_order`: the
 * events do not follow the stored ones.
 */
export type WriteOutcome = "written" | "unchanged" | "out_of_order" | ConversationOutcome | LedgerOutcome;

/** The approximate number of characters that a job writes, to limit one commit. */
export function sizeOfJob(job: WriteJob): number {
  switch (job.type) {
    case "open":
    case "close":
      return lengthOfBlocks(job.events) + lengthOfItems(job.items) + job.snapshot.body.length;
    case "whole":
      return (
        lengthOfBlocks(job.events) +
        lengthOfItems(job.inputItems) +
        lengthOfItems(job.outputItems) +
        job.snapshot.body.length
      );
    case "append":
      return lengthOfBlocks(job.events);
    case "advance":
      return lengthOfBlocks(job.events) + job.snapshot.body.length;
    case "release":
    case "delete":
      return 0;
    case "conversation":
      return sizeOfStep(job.step);
    case "tool":
      return sizeOfLedgerStep(job.step);
    default:
      return assertNever(job);
  }
}
