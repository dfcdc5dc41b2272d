import { expect, test } from "vitest";
import { workspaceFaults } from "./workspace-versions.ts";

const manifest = (path: string, dependencies: Readonly<Record<string, string>>): { path: string; text: string } => ({
  path,
  text: JSON.stringify({ dependencies }),
});

test("workspaces-share-versions fires on another version, and on a package that the root does not have", () => {
  const files = [
    manifest("package.json", { koa: "3.0.0" }),
    manifest("packages/a/package.json", { koa: "2.0.0", "@antiphon/base": "*" }),
    manifest("generated/package.json", { ajv: "8.0.0" }),
  ];
  expect(workspaceFaults(files)).toEqual([
    "packages/a/package.json: koa 2.0.0, and the root 3.0.0",
    "generated/package.json: ajv 8.0.0, and the root has none",
  ]);
});

test("workspaces-share-versions does not fire on the root's versions", () => {
  const files = ["package.json", "packages/a/package.json"].map((path) => manifest(path, { koa: "3.0.0" }));
  expect(workspaceFaults(files)).toEqual([]);
});
