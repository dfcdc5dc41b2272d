import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";

type WithoutNumber<E> = E extends unknown ? Omit<E, "sequence_number"> : never;

/** A wire event without its `sequence_number`, which the recorder adds. */
export type UnnumberedEvent = WithoutNumber<ResponseStreamEvent>;

/** The status of an item at its end: complete or cut. */
export type BlockEnd = "completed" | "incomplete";
