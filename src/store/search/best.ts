/** Keeps the highest values, at most `max`, without sorting all. */
export class Best {
  readonly #max: number;
  /** A heap: each value is at most its children's, so the lowest is first. */
  readonly #keys: number[] = [];
  readonly #values: number[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(key: number, value: number): void {
    if (this.#keys.length < this.#max) {
      this.#keys.push(key);
      this.#values.push(value);
      this.#rise(this.#keys.length - 1);
    } else if (value > (this.#values[0] ?? Number.POSITIVE_INFINITY)) {
      this.#keys[0] = key;
      this.#values[0] = value;
      this.#sink();
    }
  }

  /** In no order. */
  get keys(): readonly number[] {
    return this.#keys;
  }

  #rise(from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#valueAt(parent) <= this.#valueAt(place)) return;
      this.#swap(parent, place);
      place = parent;
    }
  }

  #sink(): void {
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const right = 2 * place + 2;
      let lowest = place;
      if (this.#valueAt(left) < this.#valueAt(lowest)) lowest = left;
      if (this.#valueAt(right) < this.#valueAt(lowest)) lowest = right;
      if (lowest === place) return;
      this.#swap(lowest, place);
      place = lowest;
    }
  }

  #valueAt(place: number): number {
    return this.#values[place] ?? Number.POSITIVE_INFINITY;
  }

  #swap(one: number, other: number): void {
    const key = this.#keys[one] ?? 0;
    const value = this.#values[one] ?? 0;
    this.#keys[one] = this.#keys[other] ?? 0;
    this.#values[one] = this.#values[other] ?? 0;
    this.#keys[other] = key;
    this.#values[other] = value;
  }
}
