import { numberOfId, stemFromId } from "@antiphon/base/ids.ts";

/**
 * Output items of a request are numbered from 0 and its input items from this number, so that their ids never collide.
 */
export const INPUT_NUMBER_FIRST = 0x10000000;

/** Whether this server assigned the id of an input item that was sent without one. */
export function isInputId(id: string): boolean {
  const number = numberOfId(id);
  return number !== null && number >= INPUT_NUMBER_FIRST;
}

/**
 * The common seed of the ids of one response's output items. Null for ids of input items and ids that are not from this
 * server.
 */
export function outputSeedOf(id: string): string | null {
  const number = numberOfId(id);
  return number === null || number >= INPUT_NUMBER_FIRST ? null : stemFromId(id).seed;
}
