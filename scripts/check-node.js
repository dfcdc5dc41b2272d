// Plain JavaScript, so that a Node that cannot run the server can still say so.

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 11)) {
  console.error(
    `Antiphon needs Node 24.11 or newer, and this is ${process.versions.node} (${process.platform}, ${process.arch}). ` +
      "npm brings it for Linux with glibc on x64 and arm64. On other systems, install it first: https://nodejs.org",
  );
  process.exit(1);
}
