import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new folder. It goes with all that is in it when the test ends, or at another moment, such as `afterAll`. */
export function temporaryFolder(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-test-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
