import { execFileSync, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { freePort } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readRoot } from "./manifests.ts";
import { programPath, whySkipped } from "./programs.ts";

const START_MS_MAX = 30_000;
const LOOK_MS = 20;

/** One of the proxies whose configuration is shipped. */
export interface Proxy {
  readonly name: "nginx" | "caddy";
  /** The name for the title of tests, with why it is skipped here. */
  readonly title: string;
  /** Why it is skipped here, or nothing. */
  readonly whySkipped: string;
  /**
   * Starts it with the shipped configuration, but for addresses and the certificate, until the test ends. Several
   * servers stand in it as its comments say.
   */
  start(...servers: readonly Served[]): Promise<StartedProxy>;
}

interface Served {
  readonly url: string;
}

export interface StartedProxy {
  readonly url: string;
  /** The certificate that clients have to trust. */
  readonly certificate: Buffer;
}

export const PROXIES: readonly Proxy[] = [proxyOf("nginx", startNginx), proxyOf("caddy", startCaddy)];

function proxyOf(name: Proxy["name"], start: Proxy["start"]): Proxy {
  const why = whySkipped(name, "openssl");
  return { name, title: `${name}${why}`, whySkipped: why, start };
}

async function startNginx(...servers: readonly Served[]): Promise<StartedProxy> {
  const { folder, port, certificate } = await prepare();
  const site = readRoot("deploy/nginx/antiphon.conf")
    .replaceAll("/etc/letsencrypt/live/antiphon.example.com/fullchain.pem", join(folder, "certificate.pem"))
    .replaceAll("/etc/letsencrypt/live/antiphon.example.com/privkey.pem", join(folder, "key.pem"))
    .replace(/server 127\.0\.0\.1:8080(.*;)/, (_, rest) =>
      servers.map(({ url }) => `server ${new URL(url).host}${rest}`).join("\n"),
    )
    .replace("listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`)
    .replace("listen 80;", `listen 127.0.0.1:${await freePort()};`)
    .replaceAll(/^ *listen \[::\].*\n/gm, "");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const file = join(folder, "nginx.conf");
  await writeFile(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr error;
events { worker_connections 1024; }
http { access_log off; ${temporary.join(" ")}
${site} }`,
  );
  await run(port, programPath("nginx") ?? "", ["-e", "stderr", "-c", file], {});
  return { url: `https://localhost:${port}`, certificate };
}

async function startCaddy(...servers: readonly Served[]): Promise<StartedProxy> {
  const { folder, port, certificate } = await prepare();
  const tls = `tls ${join(folder, "certificate.pem")} ${join(folder, "key.pem")}`;
  const site = readRoot("deploy/caddy/Caddyfile")
    .replace("127.0.0.1:8080", servers.map(({ url }) => new URL(url).host).join(" "))
    .replaceAll("# health_", servers.length > 1 ? "health_" : "# health_")
    .replace(/^(\{\$ANTIPHON_DOMAIN:localhost\} \{)$/m, `$1\n\tbind 127.0.0.1\n\t${tls}`);
  const file = join(folder, "Caddyfile");
  await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  const env = { HOME: folder, ANTIPHON_DOMAIN: `localhost:${port}` };
  await run(port, programPath("caddy") ?? "", ["run", "--config", file, "--adapter", "caddyfile"], env);
  return { url: `https://localhost:${port}`, certificate };
}

async function prepare() {
  const folder = temporaryFolder();
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", ...kind, "-keyout", key, "-out", certificate, ...subject], {
    stdio: "ignore",
  });
  return { folder, port: await freePort(), certificate: await readFile(certificate) };
}

/** Resolves when the program accepts connections. It ends with the test. */
async function run(port: number, program: string, args: readonly string[], env: Record<string, string>): Promise<void> {
  const child = spawn(program, [...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = (complaints + text).slice(-10_000);
  });
  for (const until = performance.now() + START_MS_MAX; !(await answers(port)); await sleep(LOOK_MS))
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`${program} did not start: ${complaints}`);
}

function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).finally(() => socket.destroy());
}

/** A reply whose head has arrived. */
export interface ProxiedReply {
  readonly status: number;
  readonly body: IncomingMessage;
}

/** Asks over TLS, on a connection of its own. */
export async function ask(
  proxy: StartedProxy,
  path: string,
  { body, ...options }: RequestOptions & { readonly body?: string | Buffer } = {},
): Promise<ProxiedReply> {
  const agent = new Agent({ ca: proxy.certificate });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = request(proxy.url + path, { ...options, agent }, resolve);
  asked.on("error", reject);
  asked.end(body);
  const reply = await promise;
  return { status: reply.statusCode ?? 0, body: reply };
}

export async function textOf({ body }: ProxiedReply): Promise<string> {
  let text = "";
  for await (const piece of body.setEncoding("utf8")) text += String(piece);
  return text;
}
