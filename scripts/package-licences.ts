import { isRecord } from "@antiphon/base/json/records.ts";

/** A licence as CycloneDX lists it. */
export interface ListedLicence {
  readonly license: { readonly id: string } | { readonly name: string; readonly text: { readonly content: string } };
}

/** The words that grant the MIT licence, which copies often leave without a title. */
const MIT_GRANT = /Permission is hereby granted, free of charge, to any person obtaining a copy/;
/** How SPDX writes the name of a licence. */
const SPDX_ID = /^[A-Za-z0-9.+-]+$/;

/**
 * The licences of a package that npm lists without: those of the old field `licenses` of its package.json, or that of
 * its licence file. `file` is null if there is none.
 */
export function licencesOf(manifest: unknown, file: string | null): readonly ListedLicence[] {
  const named = namesIn(manifest).filter((name) => SPDX_ID.test(name));
  if (named.length > 0) return named.map((id) => ({ license: { id } }));
  if (file === null) return [];
  if (MIT_GRANT.test(file)) return [{ license: { id: "MIT" } }];
  return [{ license: { name: "as in its licence file", text: { content: file } } }];
}

/** The field was a list of names or of objects with a type, or one of these. */
function namesIn(manifest: unknown): readonly string[] {
  if (!isRecord(manifest)) return [];
  const { license = [], licenses = [] } = manifest;
  return [license, licenses].flat().flatMap((entry: unknown) => {
    const name = isRecord(entry) ? entry["type"] : entry;
    return typeof name === "string" ? [name] : [];
  });
}
