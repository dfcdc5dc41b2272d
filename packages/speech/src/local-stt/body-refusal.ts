import { isRecord } from "@antiphon/base/json/records.ts";
import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";

const NAME_CHARACTERS_MAX = 64;

/** A sentence that explains why a body is invalid. It quotes names of members, never their values. */
export function bodyRefusal(refusals: readonly SchemaRefusal[]): string {
  const [refusal] = refusals;
  if (refusal === undefined) return "The body breaks its schema.";
  const place = memberPath(refusal.instancePath);
  if (refusal.keyword === "required")
    return `The member '${memberOf(place, String(refusal.params["missingProperty"]))}' is missing.`;
  if (refusal.keyword === "additionalProperties") {
    const name = memberOf(place, String(refusal.params["additionalProperty"]).slice(0, NAME_CHARACTERS_MAX));
    return `The member '${name}' is not known.${knownMembers(refusal.parentSchema)}`;
  }
  return `${place === "" ? "The body" : `The member '${place}'`} ${demandOf(refusal)}.`;
}

function demandOf({ keyword, params }: SchemaRefusal): string {
  const limit = String(params["limit"]);
  switch (keyword) {
    case "type":
      return `must be of type ${[params["type"]].flat().map(String).join(" or ")}`;
    case "enum":
      return `must be one of: ${[params["allowedValues"]].flat().map(String).join(", ")}`;
    case "maxLength":
      return `must have at most ${limit} character(s)`;
    case "minItems":
      return `must have at least ${limit} element(s)`;
    case "maxItems":
      return `must have at most ${limit} element(s)`;
    default:
      return `is not valid (${keyword})`;
  }
}

function knownMembers(schema: unknown): string {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  return properties.length === 0 ? "" : ` Known are: ${properties.join(", ")}.`;
}

/** Turns `/messages/0/role` into `messages[0].role`. */
function memberPath(instancePath: string): string {
  const steps = instancePath.split("/").slice(1);
  return steps.reduce((place, step) => (/^\d+$/.test(step) ? `${place}[${step}]` : memberOf(place, step)), "");
}

function memberOf(place: string, name: string): string {
  return place === "" ? name : `${place}.${name}`;
}
