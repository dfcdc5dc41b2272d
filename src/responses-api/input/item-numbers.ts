import { numberOfId, stemFromId } from "../../base/ids.ts";

/** Output items of one request are numbered from 0, its input items from here, so that their ids never meet. */
export const INPUT_NUMBER_FIRST = 0x10000000;

/** Whether this server made the id for an item that was sent without one. */
export function isInputId(id: string): boolean {
  const number = numberOfId(id);
  return number !== null && number >= INPUT_NUMBER_FIRST;
}

/**
 * What the ids of all output items of one response share; null for ids of input items, and for ids that this server did
 * not make.
 */
export function outputSeedOf(id: string): string | null {
  const number = numberOfId(id);
  return number === null || number >= INPUT_NUMBER_FIRST ? null : stemFromId(id).seed;
}
