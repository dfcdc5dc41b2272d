import type { SharedDatabase } from "./database.ts";
import type { Network } from "./network.ts";
import { Life, type Node, type NodeSurroundings, startNode } from "./node.ts";
import type { Random } from "./random.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

/** How long the supervisor waits before it starts a node again, in milliseconds. */
const RESTART_MS = 3_000;

/** A place for a node, which is started there again and again. */
interface Seat {
  readonly name: string;
  lives: number;
  life: Life | null;
  /** Null until it serves. */
  node: Node | null;
  isStopping: boolean;
}

/** The nodes, and who notices that one dies. */
export class Cluster {
  readonly #surroundings: NodeSurroundings;
  readonly #database: SharedDatabase;
  readonly #network: Network;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #supervisor: Actor;
  readonly #seats: readonly Seat[];
  /** All lives so far. */
  readonly #lives: Life[] = [];
  readonly #mourners = new Map<Actor, Set<() => void>>();

  constructor(surroundings: NodeSurroundings, database: SharedDatabase, size: number) {
    this.#surroundings = surroundings;
    this.#database = database;
    this.#network = surroundings.network;
    this.#scheduler = surroundings.line.scheduler;
    this.#random = surroundings.line.random;
    this.#supervisor = { name: "host", isAlive: true, frozenUntil: 0 };
    const names = Array.from({ length: size }, (_, index) => `n${index + 1}`);
    this.#seats = names.map((name) => ({ name, lives: 0, life: null, node: null, isStopping: false }));
  }

  startAll(): void {
    for (const seat of this.#seats) if (seat.life === null) this.#start(seat, this.#random.between(0, 100));
  }

  /** A node that serves; null if none does. */
  pick(): Node | null {
    const serving = this.#seats.flatMap(({ node }) => (node === null ? [] : [node]));
    return serving.length === 0 ? null : this.#random.pick(serving);
  }

  /** Calls `notice` once if the node dies. Returns a function that stops watching. */
  watch(actor: Actor, notice: () => void): () => void {
    if (!actor.isAlive) {
      notice();
      return () => {};
    }
    const mourners = this.#mourners.get(actor) ?? new Set();
    this.#mourners.set(actor, mourners);
    mourners.add(notice);
    return () => void mourners.delete(notice);
  }

  /** Kills a random node between two steps. Others may learn of it only when its lease ends. */
  crash(): void {
    const seat = this.#random.pick(this.#seats);
    const { life } = seat;
    if (life === null) return;
    this.#scheduler.trace.note(`${life.actor.name} dies`);
    this.#bury(seat, life);
    if (this.#surroundings.deployment.type === "file" || this.#random.happens(0.5)) life.leave();
    this.#start(seat, this.#random.between(0, 2 * RESTART_MS));
  }

  /** Stops a random node as on `SIGTERM`, and starts another in its place. It may be killed before it is done. */
  replace(): void {
    const seat = this.#random.pick(this.#seats);
    const { life, node } = seat;
    if (life === null || node === null) return;
    this.#scheduler.trace.note(`${life.actor.name} is told to end`);
    seat.node = null;
    seat.isStopping = true;
    const isOver = (): void => {
      if (seat.life !== life) return;
      this.#bury(seat, life);
      life.leave();
      this.#start(seat, this.#random.between(0, RESTART_MS));
    };
    this.#scheduler.plan(life.actor, 0, "SIGTERM", () => void node.close().then(isOver, isOver));
    this.#scheduler.plan(this.#supervisor, STOP_MS_MAX, "SIGKILL", isOver);
  }

  /** Makes a random node stand still. */
  freeze(ms: number): void {
    const { life } = this.#random.pick(this.#seats);
    if (life === null) return;
    this.#scheduler.trace.note(`${life.actor.name} stands still for ${Math.round(ms)} ms`);
    life.actor.frozenUntil = this.#scheduler.now + ms;
  }

  /** The actor of a random node; null if that node is dead. */
  pickActor(): Actor | null {
    return this.#random.pick(this.#seats).life?.actor ?? null;
  }

  /** Lets all nodes go on. */
  thaw(): void {
    for (const { actor } of this.#lives) actor.frozenUntil = 0;
  }

  /** Ends all nodes at once, for the next seed. */
  clear(): void {
    for (const life of this.#lives) {
      life.actor.isAlive = false;
      life.closeFiles();
      life.leave();
    }
  }

  #start(seat: Seat, ms: number): void {
    this.#scheduler.plan(this.#supervisor, ms, `start ${seat.name}`, () => {
      if (seat.life !== null) return;
      seat.lives += 1;
      const life = new Life(`${seat.name}.${seat.lives}`);
      seat.life = life;
      this.#lives.push(life);
      this.#scheduler.plan(life.actor, 0, "start", () => this.#open(seat, life));
    });
  }

  #open(seat: Seat, life: Life): void {
    startNode(this.#surroundings, life).then(
      (node) => {
        if (seat.life === life && !seat.isStopping) seat.node = node;
      },
      (fault: unknown) => {
        this.#scheduler.trace.note(`${life.actor.name} cannot start: ${String(fault)}`);
        this.#bury(seat, life);
        life.leave();
        this.#start(seat, RESTART_MS);
      },
    );
  }

  #bury(seat: Seat, life: Life): void {
    life.actor.isAlive = false;
    life.closeFiles();
    this.#database.noteDeath(life.actor);
    this.#network.remove(life.actor);
    seat.life = null;
    seat.node = null;
    seat.isStopping = false;
    for (const notice of this.#mourners.get(life.actor) ?? []) notice();
    this.#mourners.delete(life.actor);
  }
}

const STOP_MS_MAX = 20_000;
