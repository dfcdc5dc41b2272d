import { expect, test } from "vitest";
import { withRelativePaths } from "./compile.ts";

test.each([
  ["src/servers/a.js", 'import "@antiphon/base/json/b.ts";', 'import "../../packages/base/src/json/b.js";'],
  ["packages/speech/src/a.js", 'from "@antiphon/contracts/local-stt/c.js"', 'from "../../../generated/local-stt/c.js"'],
  ["packages/client/src/a.d.ts", 'import("@antiphon/contracts/b/c.ts").C', 'import("../../../generated/b/c.js").C'],
  ["src/a.js", 'import "@other/base/b.ts"; import "koa";', 'import "@other/base/b.ts"; import "koa";'],
])("a compiled %s finds files of workspaces: %s", (path, code, rewritten) => {
  expect(withRelativePaths(code, path)).toBe(rewritten);
});
