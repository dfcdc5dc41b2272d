import { DIGITS_MAX, type GrammarRules } from "./grammar-rules.ts";

/** Bounds of a number; null for none. */
export interface NumberBounds {
  readonly min: number | null;
  readonly max: number | null;
  readonly isMinExclusive: boolean;
  readonly isMaxExclusive: boolean;
}

const DECIMALS_MAX = 6;
const FRACTION = `("." [0-9]{1,${DIGITS_MAX}})?`;
const FRACTION_ABOVE_ZERO = `"." [0-9]{0,${DIGITS_MAX - 1}} [1-9]`;

/** Whole numbers within bounds; null if there are none. */
export function integerWithin(rules: GrammarRules, bounds: NumberBounds): string | null {
  const { min, max, isMinExclusive, isMaxExclusive } = bounds;
  const least = min === null ? null : isMinExclusive ? Math.floor(min) + 1 : Math.ceil(min);
  const most = max === null ? null : isMaxExclusive ? Math.ceil(max) - 1 : Math.floor(max);
  const alternatives = wholeNumbers(least, most, "");
  return alternatives.length === 0 ? null : rules.add(alternatives.join(" | "));
}

/** Numbers with or without a fraction within bounds; null if none can be written. */
export function numberWithin(rules: GrammarRules, bounds: NumberBounds): string | null {
  const { min, max } = bounds;
  const isWhole = (bound: number | null): boolean => bound === null || Number.isInteger(bound);
  const alternatives = isWhole(min) && isWhole(max) ? fractionalNumbers(bounds) : scaledNumbers(bounds);
  return alternatives.length === 0 ? null : rules.add(alternatives.join(" | "));
}

/** `ending` follows each number. */
function wholeNumbers(least: number | null, most: number | null, ending: string): string[] {
  const negative =
    (least ?? -1) < 0 ? positives(most !== null && most < 0 ? -most : 1, least === null ? null : -least) : [];
  const positive = (most ?? 0) >= 0 ? positives(Math.max(0, least ?? 0), most) : [];
  return [...negative.map((digits) => `"-" ${digits} ${ending}`), ...positive.map((digits) => `${digits} ${ending}`)];
}

/** Whole numbers from 0; `most` null for no limit but that of digits. */
function positives(least: number, most: number | null): string[] {
  if (most !== null && least > most) return [];
  const last = most === null ? "9".repeat(DIGITS_MAX) : String(most);
  const first = String(least);
  if (!/^\d+$/.test(last) || !/^\d+$/.test(first) || first.length > last.length) return [];
  const alternatives: string[] = [];
  for (let length = first.length; length <= last.length; length++) {
    const from = length === first.length ? first : `1${"0".repeat(length - 1)}`;
    const to = length === last.length ? last : "9".repeat(length);
    alternatives.push(digitsBetween(from, to, null));
  }
  return alternatives;
}

/** Numbers whose bounds are whole: a whole part and a fraction. */
function fractionalNumbers({ min, max, isMinExclusive, isMaxExclusive }: NumberBounds): string[] {
  const above = (from: number, to: number | null, isFromOut: boolean, isToOut: boolean): string[] => [
    ...(isFromOut && (to === null || from < to) ? positives(from, from).map((d) => `${d} ${FRACTION_ABOVE_ZERO}`) : []),
    ...positives(isFromOut ? from + 1 : from, to === null ? null : to - 1).map((digits) => `${digits} ${FRACTION}`),
    ...(to === null || isToOut || (isFromOut && from === to) ? [] : positives(to, to)),
  ];
  const isZeroCrossed = (max ?? 1) > 0 || (max === 0 && !isMaxExclusive);
  const negative =
    min !== null && min >= 0
      ? []
      : above(
          max !== null && max < 0 ? -max : 0,
          min === null ? null : -min,
          max !== null && max < 0 ? isMaxExclusive : true,
          isMinExclusive,
        );
  const isFromZero = min === null || min < 0;
  const positive = isZeroCrossed
    ? above(isFromZero ? 0 : (min ?? 0), max, !isFromZero && isMinExclusive, isMaxExclusive)
    : [];
  return [...negative.map((digits) => `"-" ${digits}`), ...positive];
}

/** Numbers whose bounds have decimals, written with as many. */
function scaledNumbers({ min, max, isMinExclusive, isMaxExclusive }: NumberBounds): string[] {
  const decimals = Math.max(decimalsOf(min), decimalsOf(max));
  if (decimals > DECIMALS_MAX) return [];
  const scale = 10 ** decimals;
  const least = min === null ? null : Math.round(min * scale) + (isMinExclusive ? 1 : 0);
  const most = max === null ? null : Math.round(max * scale) - (isMaxExclusive ? 1 : 0);
  const from = (low: number, high: number | null): string[] => {
    if (high !== null && low > high) return [];
    const first = String(low).padStart(decimals + 1, "0");
    const last = high === null ? "9".repeat(decimals + 9) : String(high).padStart(decimals + 1, "0");
    const alternatives: string[] = [];
    for (let length = first.length; length <= last.length; length++) {
      const start = length === first.length ? first : `1${"0".repeat(length - 1)}`;
      const end = length === last.length ? last : "9".repeat(length);
      alternatives.push(digitsBetween(start, end, length - decimals));
    }
    return alternatives;
  };
  const negative = (least ?? -1) < 0 ? from(most !== null && most < 0 ? -most : 1, least === null ? null : -least) : [];
  const positive = (most ?? 0) >= 0 ? from(Math.max(0, least ?? 0), most) : [];
  return [...negative.map((digits) => `"-" ${digits}`), ...positive];
}

function decimalsOf(bound: number | null): number {
  return bound === null ? 0 : (/\.(\d+)$/.exec(String(bound))?.[1]?.length ?? 0);
}

/** Numbers of as many digits as both bounds, which have equally many. A point comes before the digit `pointAt`. */
function digitsBetween(from: string, to: string, pointAt: number | null): string {
  if (from === "") return '""';
  const point = pointAt === 0 ? '"." ' : "";
  const nextPoint = pointAt === null ? null : pointAt - 1;
  const first = Number(from[0]);
  const last = Number(to[0]);
  const fromRest = from.slice(1);
  const toRest = to.slice(1);
  const after = (start: string, end: string): string => {
    return start === "" ? "" : ` ${digitsBetween(start, end, nextPoint)}`;
  };
  if (first === last) return `${point}"${first}"${after(fromRest, toRest)}`;
  const zeros = "0".repeat(fromRest.length);
  const nines = "9".repeat(fromRest.length);
  if (fromRest === zeros && toRest === nines) return `${point}[${first}-${last}]${after(zeros, nines)}`;
  const alternatives = [
    `"${first}"${after(fromRest, nines)}`,
    ...(first + 1 < last ? [`[${first + 1}-${last - 1}]${after(zeros, nines)}`] : []),
    `"${last}"${after(zeros, toRest)}`,
  ];
  return `${point}(${alternatives.join(" | ")})`;
}
