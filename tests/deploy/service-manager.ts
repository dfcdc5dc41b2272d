import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Prints each datagram that arrives in a socket of Unix as one line of JSON. Node itself has no such sockets. */
const RECEIVER = `
import json, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("null", flush=True)
while True:
    print(json.dumps(receiver.recv(65536).decode()), flush=True)
`;

/** A socket as systemd gives one to a service. */
export interface NotifySocket {
  readonly path: string;
  /** What was told so far, one assignment each, in order. */
  heard(): readonly string[];
}

/** Listens until the test ends. */
export async function openNotifySocket(): Promise<NotifySocket> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-notify-"));
  const path = join(folder, "socket");
  const child = spawn("python3", ["-c", RECEIVER, path], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  await once(child.stdout, "data");
  return { path, heard: () => assignmentsIn(text) };
}

function assignmentsIn(text: string): readonly string[] {
  const whole = text.split("\n").slice(0, -1);
  return whole
    .map((line): unknown => JSON.parse(line))
    .flatMap((datagram) => (typeof datagram === "string" ? datagram.split("\n") : []))
    .filter((assignment) => assignment !== "" && assignment !== "BARRIER=1");
}
