import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type ListenOptions, type Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { randomHex } from "@antiphon/base/ids.ts";
import type { HostFacts } from "./attempts/escape-attempt.ts";

const ALL_CAN_WRITE = 0o777;
const ALL_CAN_READ = 0o644;
/** Files that attempts try to make. */
const SYSTEM_FILES = ["/usr/bin/x", "/usr/lib/x", "/etc/x", "/x", "/dev/x", "/bin/x", "/mnt/x", "/proc/x"];
const SECRET_VARIABLE = "ANTIPHON_ESCAPE_CANARY";

/** Things of this machine that code in a sandbox must not reach, and what has become of them. */
export interface Host extends AsyncDisposable {
  readonly facts: HostFacts;
  /** What came through since the last look. Empty if nothing did. */
  harm(): Promise<readonly string[]>;
}

export async function openHost(): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), "escape-"));
  await chmod(folder, ALL_CAN_WRITE);
  const secret = randomHex(32);
  const canaryPath = join(folder, "canary.txt");
  await writeFile(canaryPath, secret);
  await chmod(canaryPath, ALL_CAN_READ);
  process.env[SECRET_VARIABLE] = secret;
  let heard: string[] = [];
  const tell = (what: string) => () => void heard.push(what);
  const socketPath = join(folder, "server.sock");
  const abstractSocket = `escape-${secret.slice(8)}`;
  const tcp = await listen({ host: "0.0.0.0", port: 0 }, tell("a connection over TCP"));
  const tcp6 = await listen({ host: "::1", port: 0 }, tell("a connection over IPv6"));
  const unix = await listen({ path: socketPath }, tell("a connection to a socket file"));
  const abstract = await listen({ path: `\0${abstractSocket}` }, tell("a connection to an abstract socket"));
  await chmod(socketPath, ALL_CAN_WRITE);
  const udp = createSocket("udp4", tell("a datagram"));
  udp.bind(0, "0.0.0.0");
  await once(udp, "listening");
  const facts: HostFacts = {
    canaryPath,
    openFolder: folder,
    processId: process.pid,
    tcpPort: portOf(tcp),
    tcp6Port: portOf(tcp6),
    udpPort: udp.address().port,
    socketPath,
    abstractSocket,
    address: ownAddress(),
    secret,
  };
  const files = new Set(await readdir(folder));
  return {
    facts,
    harm: async () => {
      const said = heard;
      heard = [];
      if ((await readFile(canaryPath, "utf8")) !== secret) said.push("the canary file has changed");
      for (const name of await readdir(folder)) {
        if (files.has(name)) continue;
        said.push(`there is a file ${name}`);
        await rm(join(folder, name));
      }
      said.push(...SYSTEM_FILES.filter(existsSync).map((path) => `there is a file ${path}`));
      return said;
    },
    [Symbol.asyncDispose]: async () => {
      delete process.env[SECRET_VARIABLE];
      for (const server of [tcp, tcp6, unix, abstract]) server.close();
      udp.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listen(where: ListenOptions, tell: () => void): Promise<Server> {
  const server = createServer((socket) => {
    tell();
    socket.on("error", () => {});
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  });
  server.listen(where);
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? "127.0.0.1";
}
