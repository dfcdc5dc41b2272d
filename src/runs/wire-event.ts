import type { ResponseStreamEvent } from "../../generated/responses-api/types.ts";

type WithoutNumber<E> = E extends unknown ? Omit<E, "sequence_number"> : never;

/** A wire event before the recorder gave it its number. */
export type UnnumberedEvent = WithoutNumber<ResponseStreamEvent>;

/** How a block ends: whole, or cut off. */
export type BlockEnd = "completed" | "incomplete";
