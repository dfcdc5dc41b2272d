import { expect, test } from "vitest";
import { buildFlags, buildFolderName, type Machine, progressOf } from "./build-plan.ts";
import { threadCount } from "./thread-count.ts";

const MODERN = new Set(["sse4_2", "avx", "avx2", "fma", "f16c", "bmi2", "avx512f"]);

function machine(more: Partial<Machine>): Machine {
  return { platform: "linux", architecture: "x64", processorFlags: MODERN, ...more };
}

test.each([
  { on: machine({}), native: "OFF" },
  { on: machine({ processorFlags: null, platform: "darwin" }), native: "OFF" },
  { on: machine({ processorFlags: new Set(["sse4_2", "avx"]) }), native: "ON" },
  { on: machine({ architecture: "arm64", processorFlags: null }), native: "ON" },
])("on $on.platform $on.architecture the build is native: $native", ({ on, native }) => {
  expect(buildFlags(on)).toContain(`-DGGML_NATIVE=${native}`);
});

test("a different source, machine, set of flags or addition gets its own build folder", () => {
  const names = [
    buildFolderName("0.3.1", machine({}), "a"),
    buildFolderName("0.3.2", machine({}), "a"),
    buildFolderName("0.3.1", machine({ architecture: "arm64" }), "a"),
    buildFolderName("0.3.1", machine({ platform: "darwin" }), "a"),
    buildFolderName("0.3.1", machine({ processorFlags: new Set() }), "a"),
    buildFolderName("0.3.1", machine({}), "b"),
  ];
  expect(new Set(names).size).toBe(names.length);
});

test.each([
  ["[ 42%] Building CXX object a.o\n[ 43%] Building C object b.o\n", 43],
  ["[12/48] Building CXX object\n", 25],
  ["[100%] Built target whisper-server\n", 100],
  ["-- Configuring done\n", null],
  ["warning: [ 42%] in the middle", null],
])("the output %j means %j percent", (text, percent) => {
  expect(progressOf(text)).toBe(percent);
});

test.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [8, 6],
  [64, 8],
])("%d cores get %d threads", (cores, threads) => {
  expect(threadCount(cores)).toBe(threads);
});
