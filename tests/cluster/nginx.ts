import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { freePort } from "../kit/http-server.ts";

/** Tells which node answered, by its address and port. */
export const ANSWERED_BY = "x-answered-by";
const START_MS_MAX = 10_000;
const LOOK_MS = 10;

/**
 * Starts nginx in front of these servers, named by host and port, as docs/operations.md advises: no stickiness, no
 * buffering. Resolves to its address. It ends with the test.
 */
export async function startNginx(servers: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-nginx-"));
  const port = await freePort();
  const file = join(folder, "nginx.conf");
  await writeFile(file, configurationOf(folder, port, servers));
  const child = spawn("setpriv", ["--pdeathsig", "KILL", nginxProgram() ?? "nginx", "-e", "stderr", "-c", file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  for (const until = performance.now() + START_MS_MAX; !(await answers(port)); await sleep(LOOK_MS))
    if (child.exitCode !== null || performance.now() > until) throw new Error(`nginx did not start: ${complaints}`);
  return `http://127.0.0.1:${port}`;
}

/** The path of nginx; undefined where it is not installed. */
export function nginxProgram(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "nginx")).find((path) => existsSync(path));
}

function configurationOf(folder: string, port: number, servers: readonly string[]): string {
  return `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr crit;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream nodes {
    random;
${servers.map((server) => `    server ${server} max_fails=1 fail_timeout=1s;`).join("\n")}
  }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 0;
    location / {
      proxy_pass http://nodes;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_buffering off;
      proxy_request_buffering off;
      proxy_connect_timeout 1s;
      proxy_read_timeout 300s;
      add_header ${ANSWERED_BY} $upstream_addr always;
    }
  }
}
`;
}

function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).finally(() => socket.destroy());
}
