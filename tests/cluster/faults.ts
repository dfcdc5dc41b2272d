import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresServer } from "../services/postgres-server.ts";
import type { RedisServer } from "../services/redis-server.ts";
import { type Cluster, type ClusterNode, LEASE_MS } from "./cluster.ts";
import type { Segment } from "./network.ts";

/** What happens to a node, of which a link can be cut, or to what the nodes share. */
export type Fault = "kill" | "pause" | "crash of the database" | "crash of the broker" | { readonly cut: Segment };

/** How many faults of each kind a trial has. */
export interface FaultCounts {
  readonly kills: number;
  readonly cuts: number;
  readonly pauses: number;
  /** As many of the database as of the broker. */
  readonly crashes: number;
}

/** The links that are cut, in turns. Whether clients reach a node is the load balancer's business. */
const CUTS: readonly Segment[] = ["database", "broker", "nodes"];
/** Between the end of a fault and the next one. */
const CALM_MS_MAX = 1500;
/** How long what was killed is away. */
const AWAY_MS_MAX = 2000;
/** Some faults pass before the node's lease is over, others do not. */
const LAST_MS_MAX = LEASE_MS * 2;
const LAST_MS_MIN = LEASE_MS / 3;
/** Longer than the lease: on waking the node has lost its runs. */
const PAUSE_MS = LEASE_MS * 1.5;

/** All faults of a trial in random order. */
export function planFaults({ kills, cuts, pauses, crashes }: FaultCounts): readonly Fault[] {
  const all: Fault[] = [
    ...Array.from({ length: kills }, () => "kill" as const),
    ...Array.from({ length: pauses }, () => "pause" as const),
    ...Array.from({ length: crashes }, () => ["crash of the database", "crash of the broker"] as const).flat(),
    ...Array.from({ length: cuts }, (_, index) => ({ cut: CUTS[index % CUTS.length] ?? "database" })),
  ];
  return all
    .map((fault) => ({ fault, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ fault }) => fault);
}

/** Carries out the faults one after the other. Those of nodes befall a random one. */
export async function carryOut(faults: readonly Fault[], cluster: Cluster): Promise<void> {
  for (const fault of faults) {
    await sleep(Math.random() * CALM_MS_MAX);
    const node = cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)];
    if (node === undefined) throw new Error("a cluster has nodes");
    console.log(typeof fault === "string" ? `${node.name}: ${fault}` : `${node.name}: its link to ${fault.cut} is cut`);
    await befall(cluster, node, fault);
  }
}

async function befall({ database, broker }: Cluster, node: ClusterNode, fault: Fault): Promise<void> {
  switch (fault) {
    case "kill":
      await node.kill();
      await sleep(Math.random() * AWAY_MS_MAX);
      return await node.start();
    case "pause":
      node.pause();
      await sleep(PAUSE_MS);
      return node.resume();
    case "crash of the database":
      return await crash(database);
    case "crash of the broker":
      return await crash(broker);
    default:
      return await cutOff(node, fault.cut);
  }
}

async function crash(service: PostgresServer | RedisServer): Promise<void> {
  await service.crash();
  await sleep(Math.random() * AWAY_MS_MAX);
  await service.start();
}

async function cutOff(node: ClusterNode, segment: Segment): Promise<void> {
  node.cut(segment);
  await sleep(LAST_MS_MIN + Math.random() * (LAST_MS_MAX - LAST_MS_MIN));
  node.mend(segment);
}
