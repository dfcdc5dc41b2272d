import { listedValues, type Schema, shapesOf } from "../schema-parity/shapes.fixture.ts";
import { findUncovered, type Outcome } from "../schema-parity/uncovered.fixture.ts";
import { openObjects } from "./specs.fixture.ts";

/** Both documents with open objects, because readers ignore members that they do not know. */
export interface SentVersions {
  readonly openBefore: Schema["document"];
  readonly openNow: Schema["document"];
}

/**
 * Finds values of the new schema that break readers of the old one. A removed type is a break; a new one is not,
 * because readers ignore it.
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
 * Compares the events of a stream. Here a new type is a break, because some clients fail on events of unknown types.
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
