import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../tests/kit/temporary-folder.ts";
import { findProgram, installCommand } from "./find-program.ts";

/** Makes these programs the only ones on PATH, and returns their folder. */
function programs(...names: readonly string[]): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "bin"));
  for (const name of names) {
    writeFileSync(join(folder, "bin", name), "#!/bin/sh\n");
    chmodSync(join(folder, "bin", name), 0o755);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("PATH", [join(folder, "nowhere"), join(folder, "bin")].join(delimiter));
  return join(folder, "bin");
}

test("programs are found on PATH by their names, and elsewhere by their paths", () => {
  const folder = programs("espeak-ng");
  writeFileSync(join(folder, "notes"), "");
  expect(findProgram("espeak-ng")).toBe(join(folder, "espeak-ng"));
  expect(findProgram(join(folder, "espeak-ng"))).toBe(join(folder, "espeak-ng"));
  expect([findProgram("ffmpeg"), findProgram("notes"), findProgram("./espeak-ng")]).toEqual([null, null, null]);
});

test("packages are named as the installer of this machine names them", () => {
  const user = vi.spyOn(process, "getuid").mockReturnValue(1000);
  onTestFinished(() => user.mockRestore());
  const compilers = { apt: "cmake g++", dnf: "cmake gcc-c++" };
  const cases = [
    ["apt-get", "sudo apt-get install -y cmake g++"],
    ["dnf", "sudo dnf install -y cmake gcc-c++"],
    ["apk", "sudo apk add cmake g++"],
    ["brew", "brew install cmake g++"],
    ["other", "install cmake g++"],
  ] as const;
  for (const [installer, command] of cases) {
    programs(installer);
    expect(installCommand(compilers)).toBe(command);
  }
  user.mockReturnValue(0);
  programs("apt-get");
  expect(installCommand(compilers)).toBe("apt-get install -y cmake g++");
});
