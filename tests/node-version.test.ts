import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "./verifies.ts";

const SCRIPT = join(import.meta.dirname, "../scripts/check-node.js");

/** Runs the version check in a Node that reports another version. */
function checkAs(version: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const versions = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  return new Promise((resolve) => {
    const pretend = `data:text/javascript,${encodeURIComponent(versions)}`;
    const child = execFile(process.execPath, ["--import", pretend, SCRIPT], (_error, out, err) =>
      resolve({ code: child.exitCode, said: out + err }),
    );
  });
}

test("a Node that is too old gets a message that says what to install", async () => {
  verifies("config.start.old-node-is-named");
  for (const version of ["18.20.0", "22.18.0", "24.10.1"]) {
    const { code, said } = await checkAs(version);
    expect([version, code]).toEqual([version, 1]);
    expect(said).toContain(`needs Node 24.11 or newer, and this is ${version} (${process.platform}, ${process.arch})`);
  }
  for (const version of ["24.11.0", "24.21.0", "26.0.0"])
    expect([version, await checkAs(version)]).toEqual([version, { code: 0, said: "" }]);
});
