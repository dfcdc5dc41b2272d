/** Lists what the packages depend on, as CycloneDX, in build/antiphon.cdx.json. npm alone names it after the folder. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ListedLicence, licencesOf } from "./package-licences.ts";

const FILE = "build/antiphon.cdx.json";
const ARGS = [
  "sbom",
  "--sbom-format=cyclonedx",
  "--sbom-type=application",
  "--omit=dev",
  "--workspaces=false",
  "--package-lock-only",
];
const LICENCE_FILE = /^licen[cs]e(?:\.\w+)?$/i;

/** A package of the list. */
interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly ListedLicence[];
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

const { name }: { readonly name: string } = JSON.parse(readFileSync("package.json", "utf8"));
const { packages }: Lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const { metadata, components, ...rest } = JSON.parse(
  execFileSync("npm", ARGS, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
);
mkdirSync("build", { recursive: true });
const named = {
  ...rest,
  metadata: { ...metadata, component: { ...metadata.component, name } },
  components: components.map(withLicences),
};
writeFileSync(FILE, `${JSON.stringify(named, null, 2)}\n`);
console.log(`${FILE} lists ${components.length} packages.`);

/** npm knows only the field `license` of package.json, which some packages do not have. */
function withLicences(component: Component): Component {
  if (component.licenses !== undefined && component.licenses.length > 0) return component;
  const folder = folderOf(component);
  return folder === null ? component : { ...component, licenses: licencesIn(folder) };
}

function licencesIn(folder: string): readonly ListedLicence[] {
  const file = readdirSync(folder).find((entry) => LICENCE_FILE.test(entry));
  const text = file === undefined ? null : readFileSync(join(folder, file), "utf8");
  return licencesOf(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), text);
}

/** Where a package is installed; null if this system does not need it. */
function folderOf({ name: wanted, version }: Component): string | null {
  const [folder] = Object.entries(packages).find(
    ([path, { version: locked }]) => path.endsWith(`node_modules/${wanted}`) && locked === version,
  ) ?? [null];
  return folder !== null && existsSync(folder) ? folder : null;
}
