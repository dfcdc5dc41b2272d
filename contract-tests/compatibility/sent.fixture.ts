import { listedValues, type Schema, shapesOf } from "../schema-parity/shapes.fixture.ts";
import { findUncovered, type Outcome } from "../schema-parity/uncovered.fixture.ts";
import { openObjects } from "./specs.fixture.ts";

/** Both documents as readers read them: they ignore members that they do not know. */
export interface SentVersions {
  readonly openBefore: Schema["document"];
  readonly openNow: Schema["document"];
}

/**
 * What readers of the old schema may stumble over in what is sent by the new one. Types that are gone count, new ones
 * are ignored by readers.
 */
export function compareSent(before: Schema, now: Schema, { openBefore, openNow }: SentVersions): Outcome {
  const strange = findUncovered(now, { json: openObjects(before.json), document: openBefore }, false);
  const gone = findUncovered(before, { json: openObjects(now.json), document: openNow }, false);
  return {
    places: strange.places,
    findings: [
      ...strange.findings.filter(({ isNewType }) => isNewType !== true),
      ...gone.findings
        .filter(({ isNewType }) => isNewType === true)
        .map((finding) => ({ ...finding, fault: "no longer sent" })),
    ],
  };
}

/**
 * The same of a stream, which consists of such values. Clients are known that fail at an event of a type that they do
 * not know.
 */
export function compareStreamed(before: Schema, now: Schema, versions: SentVersions): Outcome {
  const known = new Set(typesOf(before));
  const added = typesOf(now).filter((type) => !known.has(type));
  const { places, findings } = compareSent(before, now, versions);
  return {
    places,
    findings: [...findings, ...added.map((type) => ({ path: String(type), fault: "not sent before", isNamed: true }))],
  };
}

function typesOf(schema: Schema): readonly unknown[] {
  return shapesOf(schema, true).flatMap((shape) => {
    const type = shape.kind === "object" ? shape.members.get("type") : undefined;
    return type === undefined ? [] : (listedValues(type) ?? []);
  });
}
