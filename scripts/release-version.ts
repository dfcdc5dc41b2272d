import type { TextFile } from "./text-file.ts";

/** Where the version of a release stands, beside package.json. Versions of stream protocols are not among them. */
const PLACES: readonly { readonly path: string; readonly version: RegExp }[] = [
  { path: "package-lock.json", version: /^ {2,6}"version": "(\S+)"/gm },
  { path: "packages/client/package.json", version: /^ {2}"version": "(\S+)"/gm },
  { path: "specs/responses-api/openapi.yaml", version: /^ {2}version: (\S+)/gm },
  { path: "specs/responses-api/events.yaml", version: /^ {2}version: (\S+)/gm },
  { path: "specs/local-stt/openapi.yaml", version: /^ {2}version: (\S+)/gm },
  { path: "deploy/helm/antiphon/Chart.yaml", version: /^(?:appV|v)ersion: (\S+)/gm },
  { path: "CHANGELOG.md", version: /^## (\S+) \(\d{4}-\d{2}-\d{2}\)/gm },
];
/** The others of a lock file are those of packages, and of a changelog those of earlier releases. */
const FIRST_ONLY: ReadonlySet<string> = new Set(["package-lock.json", "CHANGELOG.md"]);

/** Files that name another version than package.json, or none. */
export function versionFaults(files: readonly TextFile[]): string[] {
  const textOf = (path: string): string => files.find((file) => file.path === path)?.text ?? "";
  const [, released = ""] = /^ {2}"version": "(\S+)"/m.exec(textOf("package.json")) ?? [];
  return PLACES.flatMap(({ path, version }) => {
    const all = [...textOf(path).matchAll(version)].map(([, found = ""]) => found);
    const named = FIRST_ONLY.has(path) ? all.slice(0, 1) : all;
    const isRight = named.length > 0 && named.every((found) => found === released);
    return isRight ? [] : [`${path} names ${named.join(" and ") || "no version"}, and package.json ${released}`];
  });
}
