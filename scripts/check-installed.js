// Plain JavaScript that imports nothing, so that it can say that nothing is installed.

import { existsSync } from "node:fs";

if (!existsSync("node_modules/vite") || !existsSync("node_modules/typescript")) {
  console.error("The packages that build Antiphon are not installed. First run: make setup");
  process.exit(1);
}
