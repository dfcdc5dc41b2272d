import { expect, test } from "vitest";
import { versionFaults } from "./release-version.ts";
import type { TextFile } from "./text-file.ts";

/** All files that name the version, of which one may name another. */
function release(other: { readonly path?: string; readonly text?: string } = {}): TextFile[] {
  const spec = "openapi: 3.1.0\ninfo:\n  version: 1.2.3\n";
  const files = [
    { path: "package.json", text: '{\n  "version": "1.2.3"\n}' },
    {
      path: "package-lock.json",
      text: '{\n  "version": "1.2.3",\n  "packages": {\n    "a": {\n      "version": "9.0.0"',
    },
    { path: "packages/client/package.json", text: '{\n  "version": "1.2.3"\n}' },
    { path: "specs/responses-api/openapi.yaml", text: spec },
    { path: "specs/responses-api/events.yaml", text: spec },
    { path: "specs/local-stt/openapi.yaml", text: spec },
    { path: "deploy/helm/antiphon/Chart.yaml", text: "version: 1.2.3\nappVersion: 1.2.3\n" },
    { path: "CHANGELOG.md", text: "# Changelog\n\n## 1.2.3 (2026-11-23)\n\n## 1.2.2 (2026-11-01)\n" },
  ];
  return files.map((file) => (file.path === other.path ? { ...file, text: other.text ?? "" } : file));
}

test("versions-agree does not fire where all files name the version of package.json", () => {
  expect(versionFaults(release())).toEqual([]);
});

test.each([
  ["specs/local-stt/openapi.yaml", "info:\n  version: 1.2.2\n", "1.2.2"],
  ["deploy/helm/antiphon/Chart.yaml", "version: 1.2.3\nappVersion: 1.2.4\n", "1.2.3 and 1.2.4"],
  ["CHANGELOG.md", "# Changelog\n\n## 1.2.3\n", "no version"],
])("versions-agree fires on %s", (path, text, named) => {
  expect(versionFaults(release({ path, text }))).toEqual([`${path} names ${named}, and package.json 1.2.3`]);
});
