import { join } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { createHostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { RateLimiter } from "@antiphon/domain/rates.ts";
import type { ToolObserver } from "@antiphon/domain/tool-watch.ts";
import type { UsageCount } from "@antiphon/domain/usage.ts";
import { Kysely } from "kysely";
import { silentBusObserver } from "../../src/bus/ports.ts";
import { RunBus } from "../../src/bus/run-bus.ts";
import { type Config, loadConfig } from "../../src/config/load-config.ts";
import { KeyBudgets } from "../../src/responses-api/access/key-budgets.ts";
import { UsageMeter } from "../../src/responses-api/access/usage-meter.ts";
import type { CreateContext } from "../../src/responses-api/create/begin-response.ts";
import { RunRecovery } from "../../src/responses-api/recovery/run-recovery.ts";
import { RunHost } from "../../src/runs/index.ts";
import type { RunObserver } from "../../src/runs/ports/run-watch.ts";
import { claimContext, createContext } from "../../src/servers/response-contexts.ts";
import { postgresRules } from "../../src/store/database/postgres/transaction-rules.ts";
import type { Database } from "../../src/store/database/schema.ts";
import { SQLITE_RULES, type TransactionRules } from "../../src/store/database/transaction-rules.ts";
import { assembleStore, type Store } from "../../src/store/open-store.ts";
import type { Statement, StatementResult } from "../../src/store/owner/database-calls.ts";
import { DatabaseOwner } from "../../src/store/owner/database-owner.ts";
import { freePlace, takePlace } from "../../src/store/owner/workers/own-workers.ts";
import { WorkerLease } from "../../src/store/owner/workers/worker-lease.ts";
import { RedoFolders } from "../../src/store/redo-log/redo-folders.ts";
import { OtherRedoLogs } from "../../src/store/stores/runs/other-redo-logs.ts";
import { RunRedoLog } from "../../src/store/stores/runs/run-redo-log.ts";
import { type Line, lineDialect } from "./database.ts";
import { type Outside, simulatedEngine, simulatedTool } from "./model.ts";
import type { Network } from "./network.ts";
import type { Actor } from "./scheduler.ts";

/**
 * `network`: the database is another program, as PostgreSQL is, and replies of it can be lost. `file`: nodes are
 * processes of one host, and write redo logs beside the database's file.
 */
export type Deployment = { readonly type: "network" } | { readonly type: "file"; readonly folder: string };

/** What nodes are made of and live in. */
export interface NodeSurroundings {
  readonly line: Line;
  readonly network: Network;
  readonly outside: Outside;
  readonly deployment: Deployment;
  readonly runsMax: number;
  readonly log: Logger;
  readonly noteUsage: (count: UsageCount) => void;
}

/** The parts of one server process, as `src/servers/` builds them, without HTTP. */
export interface Node {
  readonly actor: Actor;
  readonly store: Store;
  readonly creating: CreateContext;
  readonly runs: RunHost;
  readonly recovery: RunRecovery;
  readonly bus: RunBus;
  /** Ends as on `SIGTERM`: its runs are handed over. */
  close(): Promise<void>;
}

const CONFIG: Config = loadConfig({ SEAL_KEYS: "5e".repeat(32), KEEP_EXCHANGES: "none", DATA_DIR: "/nonexistent" }, []);

/** How long a commit is retried, in milliseconds. */
const PATIENCE_MS = 5_000;

class LineOwner extends DatabaseOwner<WorkerLease> {
  readonly #life: Life;

  constructor(db: Kysely<Database>, life: Life, rules: TransactionRules) {
    super({ db, writes: db, lease: new WorkerLease(db, life.own, rules), rules });
    this.#life = life;
  }

  async isSound(): Promise<boolean> {
    return true;
  }

  async query({ sql, parameters }: Statement): Promise<StatementResult> {
    const query = { sql, parameters: [...parameters], query: RAW, queryId: { queryId: sql } };
    const { rows, numAffectedRows, insertId } = await this.db.executeQuery<never>(query);
    return { rows, numAffectedRows, insertId };
  }

  async close(): Promise<void> {
    await this.lease.resign();
    this.#life.leave();
  }
}

const RAW = { kind: "RawNode", sqlFragments: [], parameters: [] } as const;

function rulesOf(deployment: Deployment): TransactionRules {
  if (deployment.type === "file")
    return { ...SQLITE_RULES, redo: new RedoFolders(join(deployment.folder, "antiphon.db")) };
  return { ...SQLITE_RULES, recovery: postgresRules(PATIENCE_MS).recovery };
}

/** One life of a node, from its start to its death. */
export class Life {
  readonly actor: Actor;
  readonly own = takePlace();
  #redoLog: RunRedoLog | null = null;

  constructor(name: string) {
    this.actor = { name, isAlive: true, frozenUntil: 0 };
  }

  openRedoLog(file: string): RunRedoLog {
    this.#redoLog = new RunRedoLog(file, this.own);
    return this.#redoLog;
  }

  /** The system closes the files of a dead process. */
  closeFiles(): void {
    this.#redoLog?.giveUp();
  }

  /** From now on, others can see that the process is gone. */
  leave(): void {
    freePlace(this.own);
  }
}

async function openStore({ line, deployment }: NodeSurroundings, life: Life): Promise<Store> {
  const { actor, own } = life;
  const db = new Kysely<Database>({ dialect: lineDialect(line, actor) });
  const owner = new LineOwner(db, life, rulesOf(deployment));
  if (deployment.type === "network") return await assembleStore(owner, { file: ":memory:" }, { db });
  const file = join(deployment.folder, "antiphon.db");
  const redoLogs = { own: life.openRedoLog(file), others: new OtherRedoLogs(file, own, owner) };
  return await assembleStore(owner, { file }, { redoLogs });
}

const TOOL_LIMITS = {
  turnsMax: 32,
  callsMax: 128,
  parallelMax: 8,
  outputCharactersMax: 1000,
  attemptsMax: 3,
  repeatMs: 5_000,
};

/** Starts a node, in a step of its actor. Rejects if the database does not answer. */
export async function startNode(surroundings: NodeSurroundings, life: Life): Promise<Node> {
  const { network, outside, deployment, runsMax, log, noteUsage } = surroundings;
  const { actor } = life;
  const store = await openStore(surroundings, life);
  const runs = new RunHost({ runsMax: 2 * runsMax, backgroundRunsMax: runsMax, queueMax: 100, runMs: 600_000 });
  const broker = network.brokerOf(actor);
  const bus = new RunBus({ broker, places: store.places, runs, observer: silentBusObserver, log });
  const engine = simulatedEngine(outside, actor);
  const hostedTools = [simulatedTool(outside, actor)];
  const parts = {
    store: { ...store, reachesFiles: null },
    model: {
      engine,
      kindOf: () => "built-in" as const,
      baseUrl: null,
      description: "",
      policyOf: () => null,
      servers: null,
      embedded: null,
    },
    tools: createHostedTools(hostedTools, {
      kinds: new Set(["mcp"]),
      limits: TOOL_LIMITS,
      unavailable: "omit",
      nodeName: "simulated",
    }),
    media: {
      forRequest: () => {
        throw new Error("no media");
      },
    },
    accounts: {
      limiter: UNLIMITED,
      budgets: new KeyBudgets(store.usage, { flush: async () => {}, follow: () => {} }),
      meter: new UsageMeter({ note: noteUsage }, { priceOf: () => null }),
    },
    watching: { store: store.responses, eventLog: store.events, runs, neighbours: bus },
    telemetry: { runs: RUNS_UNOBSERVED, tools: TOOLS_UNOBSERVED },
  };
  const creating = createContext({ ...CONFIG, nodeName: actor.name }, parts, log);
  const recovery = new RunRecovery(claimContext(creating, store), log);
  if (deployment.type === "network") recovery.shareQueue();
  bus.accept({
    lookForStops: (responseIds) => recovery.lookForStops(responseIds),
    lookForWork: () => {
      if (runs.placesForWaiting > 0) recovery.lookForWork();
    },
    lookForStopped: () => recovery.lookForWork(),
  });
  await bus.start();
  await recovery.start();
  const close = async (): Promise<void> => {
    await recovery.stopClaiming();
    await recovery.close(AbortSignal.abort());
    await bus.close();
    await store.close();
  };
  return { actor, store, creating, runs, recovery, bus, close };
}

const STANDING = { limit: 1, remaining: 1, resetMs: 0 };
const UNLIMITED: RateLimiter = {
  take: async () => ({ taken: true, standing: STANDING, correct: () => {} }),
  standing: async () => STANDING,
};

const RUNS_UNOBSERVED: RunObserver = {
  watch: () => ({
    trace: null,
    began() {},
    countEvents() {},
    noteFailure() {},
    noteEnd() {},
    noteRefusal() {},
    noteLeave() {},
    noteIncident() {},
  }),
};
const TOOLS_UNOBSERVED: ToolObserver = {
  began: () => ({ noteEnd() {} }),
  noteLoopEnd() {},
  noteLimit() {},
  noteOmission() {},
  noteEffect() {},
};
