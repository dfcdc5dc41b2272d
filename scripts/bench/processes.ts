import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";

/** Scheduler ticks of Linux are reported as hundredths of a second. */
const MS_PER_TICK = 10;
const START_MS_MAX = 60_000;

export interface Started {
  readonly child: ChildProcess;
  /** What `ready` captured in the line that says the process is ready. */
  readonly match: RegExpExecArray;
}

/** A program that says by a line of its output that it is ready. */
export interface Command {
  /** The program and the parameters of its command line. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly ready: RegExp;
  /** A file that gets all output. Left out: errors are shown here, and the rest is dropped. */
  readonly log?: string;
}

/** Starts a script and waits for a line of its output that matches `ready`. */
export function startProgram(
  script: string,
  env: Readonly<Record<string, string>>,
  ready: RegExp,
  nodeFlags: readonly string[] = [],
): Promise<Started> {
  return startCommand({ command: [process.execPath, ...nodeFlags, script], env, ready });
}

/** Starts a program and waits for a line of its output that matches `ready`. */
export function startCommand({ command, env, ready, log }: Command): Promise<Started> {
  const [program = "", ...parameters] = command;
  const child = spawn(program, parameters, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", log === undefined ? "inherit" : "pipe"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    let isReady = false;
    const fail = (how: string): void => reject(new Error(`${command.join(" ")} ${how}: ${output}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail("did not start");
    }, START_MS_MAX);
    child.once("error", ({ message }) => fail(message));
    child.once("exit", (code) => {
      clearTimeout(timer);
      fail(`exited with ${code}`);
    });
    const take = (bytes: Buffer): void => {
      if (log !== undefined) appendFileSync(log, bytes);
      if (isReady) return;
      output += bytes.toString();
      const match = ready.exec(output);
      if (match === null) return;
      isReady = true;
      clearTimeout(timer);
      resolve({ child, match });
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
  });
}

/**
 * The CPU time of a process and its running descendants so far in milliseconds: user and system, all threads. Linux
 * only.
 */
export function cpuOfTree(root: number): number {
  return sumOverTree(root, ({ ticks }) => ticks) * MS_PER_TICK;
}

/** The same for each child of a process, by its pid. */
export function cpuOfChildren(root: number): ReadonlyMap<number, number> {
  const children = readOrEmpty(`/proc/${root}/task/${root}/children`).trim();
  return new Map(children === "" ? [] : children.split(" ").map((pid) => [Number(pid), cpuOfTree(Number(pid))]));
}

/** The resident memory of a process and its descendants in bytes. Linux only. */
export function residentBytes(root: number): number {
  return sumOverTree(root, ({ pid }) => memoryOf(pid, "VmRSS"));
}

/** The most resident memory so far, summed over a process and its descendants, in bytes. Linux only. */
export function peakBytes(root: number): number {
  return sumOverTree(root, ({ pid }) => memoryOf(pid, "VmHWM"));
}

interface ProcessFigures {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

function sumOverTree(root: number, figure: (one: ProcessFigures) => number): number {
  const processes = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? figuresOf(Number(name)) : []));
  const tree = new Set([root]);
  for (let before = 0; before < tree.size; ) {
    before = tree.size;
    for (const { pid, parent } of processes) if (tree.has(parent)) tree.add(pid);
  }
  return processes.filter(({ pid }) => tree.has(pid)).reduce((sum, one) => sum + figure(one), 0);
}

function figuresOf(pid: number): ProcessFigures[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  if (stat === "") return [];
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [{ pid, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
}

function memoryOf(pid: number, field: string): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readOrEmpty(`/proc/${pid}/status`));
  return Number(line?.[1] ?? 0) * 1024;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The process has ended.
  }
}
