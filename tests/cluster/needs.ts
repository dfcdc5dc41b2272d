import { spawnSync } from "node:child_process";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { whyNoRedis } from "../services/redis-server.ts";
import { nginxProgram } from "./nginx.ts";

/** Why no cluster can be started here, for people to read; undefined where one can. */
function whyNoCluster(): string | undefined {
  return whyNoNetwork() ?? whyNoPostgres() ?? whyNoRedis() ?? (nginxProgram() === undefined ? NO_NGINX : undefined);
}

const NO_NGINX = "nginx is not installed: apt-get install nginx-light";

function whyNoNetwork(): string | undefined {
  if (process.platform !== "linux") return "network namespaces are a part of Linux";
  if (process.getuid?.() !== 0) return "only root makes network namespaces";
  const { status } = spawnSync("unshare", ["--net", "ip", "link", "add", "name", "one", "type", "veth"]);
  return status === 0 ? undefined : "this system does not let us make network namespaces, or has no iproute2";
}

const missing = whyNoCluster();

export const hasCluster = missing === undefined;
/** Behind the title of tests that are skipped where no cluster can be started. */
export const WHY_SKIPPED = missing === undefined ? "" : ` (skipped: ${missing})`;
