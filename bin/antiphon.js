#!/usr/bin/env -S node --max-semi-space-size=24
// The command `antiphon`, of the installed package and of a clone. Plain and old JavaScript, so that a Node that cannot
// run the server can still say so, or start a newer one that npm installed beside it.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module, { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 24 || (major === 24 && minor >= 11)) await runHere();
else runInInstalledNode();

async function runHere() {
  module.enableCompileCache(); // The next start takes half the time.
  // Only a clone has the sources, and they are newer than what was built from them.
  const sources = new URL("../src/main.ts", import.meta.url);
  await import(existsSync(sources) ? sources.href : "../dist/server/src/main.js");
}

function runInInstalledNode() {
  const node = installedNode();
  if (node === null) return refuse();
  const flags = ["--max-semi-space-size=24"];
  const child = spawn(node, [...flags, fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  child.once("error", refuse);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("exit", (code, signal) => {
    if (signal === null) return process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The Node that is an optional package of this one, for Linux with glibc; null if it is not installed. */
function installedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/package.json`);
    return join(manifest, "../bin/node");
  } catch {
    return null;
  }
}

function refuse() {
  console.error(
    `Antiphon needs Node 24.11 or newer, and this is ${process.versions.node} (${process.platform}, ${process.arch}). ` +
      "npm brings it for Linux with glibc on x64 and arm64, unless it leaves out optional packages. " +
      "On other systems, install it first: https://nodejs.org",
  );
  process.exitCode = 1;
}
