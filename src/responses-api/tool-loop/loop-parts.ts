import type { HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { AnsweringServer, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import type { KnownExchange, ToolLedger } from "@antiphon/domain/tool-ledger.ts";
import type { ToolObserver } from "@antiphon/domain/tool-watch.ts";
import type { ShownAnswer } from "../../runs/index.ts";
import type { RunIncident } from "../../runs/ports/run-watch.ts";
import type { TurnAttempts } from "../../runs/ports/store-faults.ts";
import type { TaskTools } from "../offered-tools/task-tools.ts";
import type { Sealer } from "../seal.ts";
import type { RunTask } from "../task/run-task.ts";
import type { ModelRetries } from "./attempts/model-retries.ts";

/** The tools of this server, the ledger of their calls, and who watches those. */
export interface ToolContext {
  readonly catalogue: HostedTools;
  readonly ledger: ToolLedger;
  readonly observer: ToolObserver;
}

/** What the loop needs of the server. */
export interface LoopServices {
  readonly engine: ModelEngine;
  readonly tools: HostedTools;
  /** Null if the calls of this run are not stored. */
  readonly ledger: ToolLedger | null;
  /** Where approvals are marked as used by runs that are not stored. */
  readonly spending: Pick<ToolLedger, "spend">;
  /** Looks up which approvals this server has requested. */
  readonly store: Pick<ResponseStore, "findOutputs">;
  readonly observer: ToolObserver;
  readonly retries: ModelRetries;
  readonly sealer: Pick<Sealer, "open">;
}

/** The run that the loop serves. */
export interface LoopRun {
  readonly owner: Owner;
  readonly responseId: string;
  readonly signal: AbortSignal;
  /** Whether the response has begun before its tools are opened, so that no HTTP status can report their failure. */
  readonly isBackground: boolean;
  /** Whether to leave out the oldest items of a turn that the model server refused as too long. */
  readonly dropsOldest: boolean;
  /** Stores the run, if it is one that is stored. */
  readonly storeNow: () => Promise<void>;
  readonly past: RunPast;
  readonly listener: RunListener;
}

/** What came before a run, and what became of it before this process went on with it. */
export interface RunPast {
  /** As in `ToolScope`. */
  readonly continuedId: string | null;
  /** What was shown of the answer before a crash; null if the run begins. */
  readonly shown: ShownAnswer | null;
  /** The failed attempts at its turn before it was suspended; null if there were none. */
  readonly attempts: TurnAttempts | null;
}

/** Is told of what happens beside the answer, and knows of input that came since. */
export interface RunListener {
  /** Called with faults that do not stop the answer. */
  readonly onFault: (fault: unknown) => void;
  /** Called with each call of a tool that has run. */
  readonly onExchange: (exchange: KnownExchange) => void;
  /** Called with what happens to the run itself, for its notes and for metrics. */
  readonly onIncident: (incident: RunIncident) => void;
  /** Called with the model server of each turn, if there are several. */
  readonly onAnsweredBy: (server: AnsweringServer) => void;
  /** Asked before another turn: whether input of the client waits for the response to end. */
  readonly isSteered: () => boolean;
  /** Asked before each turn: whether the run waits until a client resumes it. */
  readonly isPaused: () => boolean;
}

/** The task of a run that has tools of this server. */
export type ToolTask = RunTask & { readonly tools: TaskTools };

/** The tools of a task without any: the loop then requests one turn from its model. */
export const NO_TOOLS: TaskTools = { hosted: [], include: [], callsMax: null, context: [], fitsWindow: false };
