import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "@antiphon/base/logger.ts";
import { Book, type Violation } from "./book.ts";
import { checkEnd } from "./checks.ts";
import { Client } from "./client.ts";
import { Cluster } from "./cluster.ts";
import type { DatabaseFaults, SharedDatabase } from "./database.ts";
import { Deeds, type Outside } from "./model.ts";
import { Network, type NetworkFaults } from "./network.ts";
import type { Deployment } from "./node.ts";
import { type Plan, planOf } from "./plan.ts";
import { Random } from "./random.ts";
import { type Actor, Scheduler } from "./scheduler.ts";
import { beginWorld } from "./system.ts";
import { Trace } from "./trace.ts";

/** How one seed ended. */
export interface SeedOutcome {
  readonly seed: number;
  readonly steps: number;
  /** Simulated milliseconds. */
  readonly ms: number;
  readonly hash: string;
  readonly violation: Violation | null;
  readonly trace: readonly string[];
}

const NO_DATABASE_FAULTS: DatabaseFaults = { refused: 0, unanswered: 0, undone: 0, latencyMs: 2, slow: 0, slowMs: 0 };
const NO_NETWORK_FAULTS: NetworkFaults = { lost: 0, doubled: 0, late: 0 };

/** After the faults, so long at most until all runs are over, in milliseconds. */
const HEALED_MS_MAX = 240_000;
/** More steps mean that something goes round in circles. */
const STEPS_MAX = 60_000;

/** One seed: its nodes, its clients and its faults. */
class Simulation {
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #book = new Book();
  readonly #trace: Trace;
  readonly #scheduler: Scheduler;
  readonly #database: SharedDatabase;
  readonly #outside: Outside;
  readonly #cluster: Cluster;
  readonly #clients: readonly Client[];
  readonly #counted = new Map<string, number>();
  readonly #folder: string | null;
  #isHealed = false;
  #awayUntil = new Map<Actor, number>();
  #nextFault = 0;

  constructor(seed: number, database: SharedDatabase, isTraced: boolean) {
    this.#random = new Random(seed);
    this.#trace = new Trace(isTraced);
    const actor: Actor = { name: "outside", isAlive: true, frozenUntil: 0 };
    this.#scheduler = new Scheduler(actor, this.#trace);
    beginWorld(this.#scheduler, this.#random);
    this.#plan = planOf(this.#random);
    this.#database = database;
    database.empty();
    const { scheduler, random } = { scheduler: this.#scheduler, random: this.#random };
    const scripts = this.#plan.scripts;
    const deeds = new Map([...scripts.keys()].map((model) => [model, new Deeds()]));
    this.#outside = { scheduler, random, actor, faults: this.#plan.outside, scripts, deeds };
    this.#folder = this.#plan.isFile ? mkdtempSync(join(tmpdir(), "antiphon-seed-")) : null;
    const deployment: Deployment = this.#folder === null ? { type: "network" } : { type: "file", folder: this.#folder };
    const network = new Network(scheduler, random, () => (this.#isHealed ? NO_NETWORK_FAULTS : this.#plan.network));
    const line = {
      database,
      scheduler,
      random,
      faults: () => (this.#isHealed ? NO_DATABASE_FAULTS : this.#plan.database),
      isReached: (one: Actor) => this.#isHealed || (this.#awayUntil.get(one) ?? 0) <= scheduler.now,
    };
    const surroundings = {
      line,
      network,
      outside: this.#outside,
      deployment,
      runsMax: this.#plan.runsMax,
      log: this.#log(),
      noteUsage: ({ kind, model }: { readonly kind: string; readonly model: string }) => {
        if (kind === "completions") this.#counted.set(model, (this.#counted.get(model) ?? 0) + 1);
      },
    };
    this.#cluster = new Cluster(surroundings, database, this.#plan.nodes);
    const wire = { scheduler, random, cluster: this.#cluster };
    this.#clients = this.#plan.intentions.map((intention) => new Client(intention, wire, this.#book));
  }

  async run(seed: number): Promise<SeedOutcome> {
    const noteRejection = (fault: unknown): void =>
      this.#book.report("no node has a bug", `a promise was rejected and nobody noticed: ${stackOf(fault)}`);
    process.on("unhandledRejection", noteRejection);
    try {
      this.#cluster.startAll();
      for (const client of this.#clients) client.begin();
      await this.#scheduler.run(() => this.#isEndOfFaults());
      if (this.#book.violation === null) await this.#heal();
    } finally {
      process.off("unhandledRejection", noteRejection);
      this.#cluster.clear();
      if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
    }
    const { steps, now: ms } = this.#scheduler;
    return { seed, steps, ms, hash: this.#trace.hash, violation: this.#book.violation, trace: this.#trace.lines };
  }

  /** Makes the faults that are due. They are as many steps apart as their plan says, so between any two steps. */
  #isEndOfFaults(): boolean {
    const { faults } = this.#plan;
    for (let fault = faults[this.#nextFault]; fault !== undefined; fault = faults[this.#nextFault]) {
      if (fault.atStep > this.#scheduler.steps) break;
      this.#nextFault += 1;
      if (fault.type === "crash") this.#cluster.crash();
      else if (fault.type === "replace") this.#cluster.replace();
      else if (fault.type === "freeze") this.#cluster.freeze(fault.ms);
      else this.#cutOff(fault.ms);
    }
    return (
      this.#isDead() ||
      (this.#nextFault >= faults.length && this.#areDone()) ||
      this.#scheduler.steps > this.#plan.faultySteps
    );
  }

  #cutOff(ms: number): void {
    const actor = this.#cluster.pickActor();
    if (actor === null) return;
    this.#trace.note(`${actor.name} does not reach the database for ${Math.round(ms)} ms`);
    this.#awayUntil.set(actor, this.#scheduler.now + ms);
  }

  #isDead(): boolean {
    return this.#book.violation !== null;
  }

  #areDone(): boolean {
    return this.#clients.every(({ isDone }) => isDone);
  }

  /** Ends all faults, waits until all is quiet, and checks what is left. */
  async #heal(): Promise<void> {
    this.#trace.note("no more faults");
    this.#isHealed = true;
    this.#cluster.thaw();
    const healedAt = this.#scheduler.now;
    const until = healedAt + HEALED_MS_MAX;
    let looksAt = 0;
    let isOver = false;
    await this.#scheduler.run(() => {
      if (this.#isDead() || this.#scheduler.now > until || this.#scheduler.steps > STEPS_MAX) return true;
      if (this.#scheduler.steps < looksAt) return false;
      looksAt = this.#scheduler.steps + STEPS_PER_LOOK;
      isOver =
        this.#scheduler.now > healedAt + SETTLING_MS &&
        this.#areDone() &&
        this.#areOver() &&
        this.#cluster.pick() !== null;
      return isOver;
    });
    if (this.#isDead()) return;
    if (this.#scheduler.steps > STEPS_MAX) this.#book.report("clients get an end", "the nodes go round in circles");
    await this.#checkNow();
  }

  async #checkNow(): Promise<void> {
    const node = this.#cluster.pick();
    if (node === null) return this.#book.report("clients get an end", "no node serves");
    let isChecked = false;
    const finished = {
      book: this.#book,
      database: this.#database,
      clients: this.#clients,
      scripts: this.#plan.scripts,
      deeds: this.#outside.deeds,
      counted: this.#counted,
    };
    this.#scheduler.plan(node.actor, 0, "check", () => {
      checkEnd(finished, node).then(
        () => (isChecked = true),
        (fault: unknown) => this.#book.report("nothing visible is lost", `a replay cannot be read: ${stackOf(fault)}`),
      );
    });
    const until = this.#scheduler.now + HEALED_MS_MAX;
    await this.#scheduler.run(() => isChecked || this.#isDead() || this.#scheduler.now > until);
    if (!isChecked) this.#book.report("nothing visible is lost", "a replay cannot be read");
  }

  #areOver(): boolean {
    const [row] = this.#database.read(
      "select count(*) as live from responses where status in ('queued', 'in_progress')",
    );
    return row?.["live"] === 0;
  }

  /** Errors that only a bug explains are violations. */
  #log(): Logger {
    const drop = (): void => {};
    const look = (fields: object, message: string): void => {
      const fault = "err" in fields ? fields.err : null;
      this.#trace.note(`log: ${message}${fault instanceof Error ? ` (${fault.name}: ${fault.message})` : ""}`);
      const isBug = fault instanceof TypeError || (fault instanceof Error && fault.name === "InvariantError");
      if (isBug) this.#book.report("no node has a bug", `${message}: ${stackOf(fault)}`);
    };
    return { debug: drop, info: drop, warn: look, error: look };
  }
}

const STEPS_PER_LOOK = 20;
/** How long what failed before the end of faults may take to end, in milliseconds. */
const SETTLING_MS = 5_000;

function stackOf(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}

/** Runs one seed from an empty database to its end. */
export async function runSeed(seed: number, database: SharedDatabase, isTraced: boolean): Promise<SeedOutcome> {
  return await new Simulation(seed, database, isTraced).run(seed);
}
