import type { ResponseStreamEvent } from "../../generated/responses-api/types.ts";

type WithoutNumber<E> = E extends unknown ? Omit<E, "sequence_number"> : never;

/** A wire event before the recorder gave it its number. */
export type UnnumberedEvent = WithoutNumber<ResponseStreamEvent>;

/** Gives an event its number. The event is its maker's last use of it, so it is completed in place. */
export function numberEvent(event: UnnumberedEvent, number: number): ResponseStreamEvent {
  return Object.assign(event, { sequence_number: number });
}
