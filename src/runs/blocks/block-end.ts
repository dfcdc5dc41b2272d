/** How a block ends: whole, or cut off. */
export type BlockEnd = "completed" | "incomplete";
