import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { licencesOf } from "./package-licences.ts";

const GRANT = "Copyright A. B.\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n…";

test("a package without the field has the licence of its older fields, or of its file", () => {
  const mit = [{ license: { id: "MIT" } }];
  expect(licencesOf({ licenses: [{ type: "MIT", url: "https://a.example" }] }, null)).toEqual(mit);
  expect(licencesOf({ licenses: ["MIT", "ISC"] }, null)).toEqual([...mit, { license: { id: "ISC" } }]);
  expect(licencesOf({ license: { type: "ISC" } }, GRANT)).toEqual([{ license: { id: "ISC" } }]);
  expect(licencesOf({}, GRANT)).toEqual(mit);
  expect(licencesOf({ license: "SEE LICENSE IN LICENSE" }, "All mine.")).toEqual([
    { license: { name: "as in its licence file", text: { content: "All mine." } } },
  ]);
  expect(licencesOf({}, null)).toEqual([]);
});

test("the list of what the package depends on names a licence for each", () => {
  const root = join(import.meta.dirname, "..");
  execFileSync(process.execPath, ["scripts/sbom.ts"], { cwd: root, stdio: "ignore" });
  const { components }: { readonly components: readonly { readonly name: string; readonly licenses?: unknown[] }[] } =
    JSON.parse(readFileSync(join(root, "build/antiphon.cdx.json"), "utf8"));
  const without = components.filter(({ licenses = [] }) => licenses.length === 0);
  expect(without.map(({ name }) => name)).toEqual([]);
});
