import { spawnSync } from "node:child_process";

const PROBE = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true"];

/** Whether bubblewrap can confine programs on this machine. */
export const HAS_BUBBLEWRAP = spawnSync("bwrap", PROBE, { stdio: "ignore" }).status === 0;

/** Whether the Python that bubblewrap runs can draw. */
export const HAS_MATPLOTLIB =
  HAS_BUBBLEWRAP && spawnSync("/usr/bin/python3", ["-c", "import matplotlib"], { stdio: "ignore" }).status === 0;

/** The settings with which the server takes the engine that starts fastest here. */
export const CODE_ENGINE = { CODE_ENGINE: HAS_BUBBLEWRAP ? "bubblewrap" : "pyodide" };
