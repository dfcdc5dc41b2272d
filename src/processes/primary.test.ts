import { silentLogger } from "@antiphon/base/logger.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ForkedProcess } from "./forked-process.ts";
import type { ToPrimary, ToProcess } from "./messages.ts";
import { Primary } from "./primary.ts";

const LEAVE_MS = 5_000;
const OVERLAP_MS = 1_000;
const HOUR_MS = 3_600_000;

/** A process in memory. */
interface StagedProcess extends ForkedProcess {
  readonly heard: ToProcess[];
  serve(): void;
  tell(line: string): void;
  end(code: number | null): void;
}

function stageProcess(id: number): StagedProcess {
  const ended = Promise.withResolvers<number | null>();
  let listener: (message: ToPrimary) => void = () => {};
  const heard: ToProcess[] = [];
  return {
    id,
    pid: id,
    exit: ended.promise,
    heard,
    send: (message, onSent) => {
      heard.push(message);
      onSent?.();
    },
    sendIfRoom: (message) => void heard.push(message),
    onMessage: (added) => (listener = added),
    kill: () => ended.resolve(null),
    tell: (line) => listener({ type: "told", line }),
    serve: () => listener({ type: "serving", greeting: { lines: [`process ${id}`], speechUrl: null } }),
    end: ended.resolve,
  };
}

function startPrimary(count: number) {
  const processes: StagedProcess[] = [];
  const greeted: string[] = [];
  const primary = new Primary({
    count,
    fork: () => {
      const process = stageProcess(processes.length + 1);
      processes.push(process);
      return process;
    },
    metrics: { update: () => {}, end: () => {}, text: () => "" },
    log: silentLogger,
    onServing: (greetings) => void greeted.push(...greetings.flatMap(({ lines }) => lines)),
    onLine: (line) => void greeted.push(line),
    leaveMs: LEAVE_MS,
    finishMs: HOUR_MS,
    overlapMs: OVERLAP_MS,
  });
  const exitCode = primary.run();
  const turn = () => vi.advanceTimersByTimeAsync(0);
  const serveAll = async (): Promise<void> => {
    for (let index = 0; index < count; index++) {
      processes[index]?.serve();
      await turn();
    }
  };
  const at = (index: number): StagedProcess => processes[index] ?? stageProcess(0);
  return { primary, processes, at, greeted, exitCode, serveAll, turn };
}

function wasTold(process: StagedProcess, type: ToProcess["type"]): boolean {
  return process.heard.some((message) => message.type === type);
}

describe("the primary", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("starts the first process alone, and greets once when all serve", async () => {
    const { processes, greeted, at, turn } = startPrimary(3);
    expect(processes).toHaveLength(1);
    at(0).serve();
    at(0).tell("early");
    await turn();
    expect(processes).toHaveLength(3);
    at(1).serve();
    await turn();
    expect(greeted).toEqual([]);
    at(2).serve();
    await turn();
    at(0).tell("late");
    expect(greeted).toEqual(["process 1", "process 2", "process 3", "early", "late"]);
  });

  test("ends with the exit code of a process that fails at the first start", async () => {
    const { processes, at, exitCode } = startPrimary(2);
    at(0).end(3);
    expect(await exitCode).toBe(3);
    expect(processes).toHaveLength(1);
  });

  test("replaces a process that lived long at once, and one that died young after a wait that doubles", async () => {
    const { processes, at, serveAll, turn } = startPrimary(2);
    await serveAll();
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    at(1).end(null);
    await turn();
    expect(processes).toHaveLength(3);
    for (const [young, waitMs] of [100, 200, 400].entries()) {
      at(2 + young).serve();
      at(2 + young).end(1);
      await vi.advanceTimersByTimeAsync(waitMs - 1);
      expect(processes).toHaveLength(3 + young);
      await vi.advanceTimersByTimeAsync(1);
      expect(processes).toHaveLength(4 + young);
    }
  });

  test("gives up when five in succession die before they serve, and lets the others finish", async () => {
    const { processes, at, exitCode, serveAll } = startPrimary(2);
    await serveAll();
    at(1).end(null);
    for (let failed = 2; failed < 7; failed++) {
      await vi.advanceTimersByTimeAsync(20_000);
      at(failed).end(2);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(processes).toHaveLength(7);
    expect(wasTold(at(0), "leave")).toBe(true);
    at(0).end(0);
    expect(await exitCode).toBe(2);
  });

  test("restarts one process after the other, each once its replacement serves", async () => {
    const { primary, processes, at, serveAll, turn } = startPrimary(2);
    await serveAll();
    primary.restart();
    expect(processes).toHaveLength(3);
    expect(wasTold(at(0), "leave")).toBe(false);
    at(2).serve();
    await turn();
    expect(wasTold(at(0), "leave")).toBe(true);
    expect(processes).toHaveLength(3);
    at(0).end(0);
    await turn();
    at(3).serve();
    await turn();
    expect(wasTold(at(1), "leave")).toBe(true);
    at(1).end(0);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(processes).toHaveLength(4);
  });

  test("restarts once more when told so during a restart, because settings may have changed", async () => {
    const { primary, processes, at, serveAll, turn } = startPrimary(1);
    await serveAll();
    primary.restart();
    primary.restart();
    primary.restart();
    expect(processes).toHaveLength(2);
    for (const index of [0, 1]) {
      at(index + 1).serve();
      await turn();
      at(index).end(0);
      await turn();
    }
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(processes).toHaveLength(3);
  });

  test("lets all finish when it retires, starts none any more, and still stops them when told so", async () => {
    const { primary, processes, at, exitCode, serveAll } = startPrimary(2);
    await serveAll();
    await primary.retire();
    primary.restart();
    for (const index of [0, 1]) expect(at(index).heard.at(-1)).toEqual({ type: "leave", isReplaced: true });
    at(0).end(0);
    await vi.advanceTimersByTimeAsync(LEAVE_MS * 2);
    expect(processes).toHaveLength(2);
    primary.stop();
    expect(at(1).heard.at(-1)).toEqual({ type: "leave", isReplaced: false });
    at(1).end(0);
    expect(await exitCode).toBe(0);
  });

  test("goes on with a restart while a replaced process still finishes its work, which may take long", async () => {
    const { primary, processes, at, exitCode, serveAll, turn } = startPrimary(2);
    await serveAll();
    primary.restart();
    at(2).serve();
    await vi.advanceTimersByTimeAsync(OVERLAP_MS);
    expect(processes).toHaveLength(4);
    at(3).serve();
    await vi.advanceTimersByTimeAsync(LEAVE_MS * 2);
    expect(at(0).heard.filter(({ type }) => type === "leave")).toEqual([{ type: "leave", isReplaced: true }]);
    primary.stop();
    expect(at(0).heard.at(-1)).toEqual({ type: "leave", isReplaced: false });
    for (const index of [1, 2, 3]) at(index).end(0);
    await turn();
    await vi.advanceTimersByTimeAsync(LEAVE_MS);
    expect(await exitCode).toBe(1); // The one that still did not end was killed.
  });

  test("stops the oldest replaced processes when too many still finish their work", async () => {
    const { primary, at, serveAll } = startPrimary(1);
    await serveAll();
    for (let round = 1; round <= 4; round++) {
      primary.restart();
      at(round).serve();
      await vi.advanceTimersByTimeAsync(OVERLAP_MS);
    }
    const lastWords = [0, 1, 2, 3].map((index) => at(index).heard.at(-1));
    expect(lastWords.map((word) => word?.type === "leave" && word.isReplaced)).toEqual([false, true, true, true]);
  });

  test("breaks a restart off when a new process does not start, and keeps the old ones", async () => {
    const { primary, processes, at, serveAll } = startPrimary(2);
    await serveAll();
    primary.restart();
    at(2).end(2);
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(processes).toHaveLength(3);
    expect(wasTold(at(0), "leave")).toBe(false);
    primary.restart();
    expect(processes).toHaveLength(4);
  });

  test("replaces a process once that dies while its replacement starts", async () => {
    const { primary, processes, at, serveAll, turn } = startPrimary(1);
    await serveAll();
    primary.restart();
    at(0).end(null);
    await turn();
    expect(processes).toHaveLength(2);
    at(1).serve();
    await vi.advanceTimersByTimeAsync(HOUR_MS);
    expect(processes).toHaveLength(2);
  });

  test("kills a process that does not leave in time, and then ends with a failure", async () => {
    const { primary, at, exitCode, serveAll } = startPrimary(2);
    await serveAll();
    primary.stop();
    at(0).end(0);
    await vi.advanceTimersByTimeAsync(LEAVE_MS);
    expect(await exitCode).toBe(1);
  });

  test("stops within the first start too", async () => {
    const { primary, processes, at, exitCode, greeted, turn } = startPrimary(2);
    primary.stop();
    at(0).serve();
    await turn();
    at(0).end(0);
    expect(await exitCode).toBe(0);
    expect([processes.length, greeted]).toEqual([1, []]);
  });
});
