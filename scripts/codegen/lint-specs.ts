import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { codegenFolder, contracts, repository } from "./contracts.ts";

/** Lints the OpenAPI and AsyncAPI documents with the rules of redocly.yaml. */
const documents = contracts.flatMap(({ openapi, streams }) => [openapi, ...streams.map(({ spec }) => spec)]);
const cli = join(codegenFolder, "node_modules/@redocly/cli/bin/cli.js");
const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
const { status } = spawnSync(process.execPath, [cli, "lint", "--config", "redocly.yaml", ...documents], {
  cwd: repository,
  env,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
