/** Lists what the packages depend on, as CycloneDX, in build/antiphon.cdx.json. npm alone names it after the folder. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const FILE = "build/antiphon.cdx.json";
const ARGS = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--omit=dev", "--package-lock-only"];

const { name }: { readonly name: string } = JSON.parse(readFileSync("package.json", "utf8"));
const { metadata, ...rest } = JSON.parse(
  execFileSync("npm", ARGS, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
);
mkdirSync("build", { recursive: true });
const named = { ...rest, metadata: { ...metadata, component: { ...metadata.component, name } } };
writeFileSync(FILE, `${JSON.stringify(named, null, 2)}\n`);
console.log(`${FILE} lists ${rest.components.length} packages.`);
