import { jsonOrUndefined, readOwnJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { sealScope } from "../input/resolve-input.ts";
import type { Sealer } from "../seal.ts";

/** A response of an owner. */
interface Named {
  readonly owner: Owner;
  readonly responseId: string;
}

/** The settings of a request, without what it says, sealed because tools have secrets. */
export function sealSettings(sealer: Sealer, { owner, responseId }: Named, request: CreateResponseRequest): string {
  const { input: _input, previous_response_id: _previousId, ...settings } = request;
  return sealer.seal(JSON.stringify(settings), responseId, sealScope(owner));
}

/** Null if they were sealed with a key that is gone. */
export function openSettings(sealer: Sealer, { owner }: Named, sealedSettings: string): CreateResponseRequest | null {
  const json = sealer.open(sealedSettings, sealScope(owner));
  return json === null ? null : readOwnJson<CreateResponseRequest>(json);
}

/** The sealed settings in a stored task; null in those of earlier releases. */
export function settingsIn(taskJson: string): string | null {
  const task = jsonOrUndefined(taskJson);
  const settings = isRecord(task) ? task["settings"] : null;
  return typeof settings === "string" ? settings : null;
}
