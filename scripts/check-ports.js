// Says which port of `make start` is in use, before anything is installed. Plain JavaScript, so that every Node can run
// it. Arguments are those of the server.

import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const IN_USE = "EADDRINUSE";
const PORT_MAX = 65_535;
const STEP = 1000;
const args = process.argv.slice(2);
const file = readEnvFile();
const isServing = args.length === 0 || args[0] === "serve" || (args[0].startsWith("-") && !isHelp());

if (isServing) {
  await check(setting("HOST") || "127.0.0.1", "PORT", "8080");
  await check("127.0.0.1", "STT_PORT", "8237");
}

async function check(host, name, usual) {
  const port = Number(setting(name) || usual);
  if (!(port > 0 && port <= PORT_MAX) || !(await isInUse(host, port))) return; // The server names other faults itself.
  const other = port + STEP <= PORT_MAX ? port + STEP : port - STEP;
  console.error(
    `Port ${port} of ${host} is in use, perhaps by an Antiphon that runs already. ` +
      `${name} chooses another: make start ARGS="--${name.toLowerCase().replace("_", "-")} ${other}"`,
  );
  process.exitCode = 1;
}

function isInUse(host, port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(error.code === IN_USE));
    server.listen(port, host, () => server.close(() => resolve(false)));
  });
}

/** A flag wins over the environment, and the environment over `.env`. */
function setting(name) {
  const flag = `--${name.toLowerCase().replace("_", "-")}`;
  const at = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  const given = at < 0 ? undefined : args[at] === flag ? args[at + 1] : args[at].slice(flag.length + 1);
  return given || process.env[name] || file.get(name);
}

function isHelp() {
  return args.some((arg) => ["--help", "-h", "--version", "-v", "-V"].includes(arg));
}

function readEnvFile() {
  try {
    const lines = readFileSync(".env", "utf8").matchAll(/^\s*(?:export\s+)?(\w+)\s*=\s*["']?([^"'\s#]*)/gm);
    return new Map(Array.from(lines, ([, name, value]) => [name, value]));
  } catch {
    return new Map();
  }
}
