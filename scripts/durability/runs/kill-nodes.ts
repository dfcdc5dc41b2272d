import { setTimeout as sleep } from "node:timers/promises";
import { CREATE_MS_MAX, RUN_MS_MAX } from "../limits.ts";
import type { Node } from "../systems/node.ts";
import type { Run } from "./run.ts";
import { type Fault, findRuns, type Trouble } from "./trouble.ts";

const LOOK_MS = 10;
/** A kill comes at a random moment within this after the progress that was drawn for it. */
const LATER_MS_MAX = 300;
const KILLS_OF_A_WAVE = [1, 2, 3];
/** From this progress on, most runs say their text. Of several kills of a wave only the last one falls there. */
const TEXT = 0.5;
const PROGRESS_MAX = 0.95;
/** How long a node of several may stay away after the last kill of a wave, unless the runs are over earlier. */
const AWAY_MS = 20_000;
const AWAY_SHARE = 0.5;

/** Kills random nodes one to three times while these runs are under way, and starts each again. */
export async function killNodes(runs: readonly Run[], nodes: readonly Node[], trouble: Trouble): Promise<void> {
  const isOver = (): boolean => areOver(runs);
  await waitUntil(() => isOver() || runs.every(({ id }) => id !== null), CREATE_MS_MAX);
  const targets = drawTargets();
  for (const [index, target] of targets.entries()) {
    await waitUntil(() => isOver() || progressOf(runs) >= target);
    await sleep(Math.random() * LATER_MS_MAX);
    if (isOver()) return;
    const isAway = nodes.length > 1 && index === targets.length - 1 && Math.random() < AWAY_SHARE;
    await trouble.during(() => kill(oneOf(nodes), runs, isAway));
  }
}

/** The progress of all runs at which the kills of a wave come, in order. */
function drawTargets(): readonly number[] {
  const kills = oneOf(KILLS_OF_A_WAVE);
  const last = kills === 1 ? randomBetween(0, PROGRESS_MAX) : randomBetween(TEXT, PROGRESS_MAX);
  const earlier = Array.from({ length: kills - 1 }, () => randomBetween(0, TEXT));
  return [...earlier.toSorted((a, b) => a - b), last];
}

function randomBetween(least: number, most: number): number {
  return least + Math.random() * (most - least);
}

function progressOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { shown, isOver }) => sum + (isOver ? 1 : shown.progress), 0) / runs.length;
}

async function kill(node: Node, runs: readonly Run[], isAway: boolean): Promise<Fault> {
  const beganAt = Date.now();
  const found = findRuns(runs);
  await node.kill();
  const at = Date.now();
  if (isAway) await waitUntil(() => areOver(runs), AWAY_MS);
  await node.startAgain();
  return { kind: "kill", isAway, node: node.name, beganAt, at, found };
}

function areOver(runs: readonly Run[]): boolean {
  return runs.every(({ isOver }) => isOver);
}

async function waitUntil(isTrue: () => boolean, msMax = RUN_MS_MAX): Promise<void> {
  for (const until = Date.now() + msMax; !isTrue() && Date.now() < until; ) await sleep(LOOK_MS);
}

function oneOf<One>(choices: readonly One[]): One {
  const choice = choices[Math.floor(Math.random() * choices.length)];
  if (choice === undefined) throw new Error("there is nothing to choose from");
  return choice;
}
