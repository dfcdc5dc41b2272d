/** Numbers around 0 with a deviation of 1, by whole-number arithmetic, so that every machine gets the same. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return () => {
    let sum = 0;
    for (let count = 0; count < 12; count++) sum += uniform();
    return sum - 6;
  };
}
