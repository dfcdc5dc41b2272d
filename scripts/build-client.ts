/** Compiles the client into packages/client/dist, or a given folder. Usage: node scripts/build-client.ts [FOLDER] */

import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { compileProject } from "./compile.ts";

const FOLDER = resolve(process.argv[2] ?? resolve(import.meta.dirname, "../packages/client/dist"));

rmSync(FOLDER, { recursive: true, force: true });
compileProject("tsconfig.client.json", FOLDER);
