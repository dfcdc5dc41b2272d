const WORD_LIST = (
  "able account after amount answer apple arrive autumn balance basket before begin between bicycle border branch " +
  "bread bridge bright broken button calm candle careful carry castle centre chance change circle city clear clock " +
  "cloud coast coffee colour common copper corner cotton country create crowd daily danger decide deep delay depend " +
  "desert detail distant double dream early earth echo effort empty engine enough equal evening exact famous farmer " +
  "feather field figure finger finish flower follow forest forget fresh friend garden gather gentle glass golden " +
  "ground handle happen harbour heavy hidden history hollow honest hurry island journey kitchen ladder language later " +
  "learn letter level listen little lonely lucky market matter meadow measure memory middle minute mirror moment " +
  "morning mountain narrow nature never number ocean office orange order paper patient pencil people perfect picture " +
  "planet pocket polite promise proper quarter question quick quiet rather reason record remain repeat river rough " +
  "sailor sample season second secret settle shadow shelter silver simple single slow smooth sound spirit spring " +
  "station steady stone story straight strange street strong summer sunday table thick thunder ticket timber together " +
  "tomorrow travel trouble under useful valley village visit voice walk water weather welcome whole willow window " +
  "winter wonder yellow yesterday"
).split(" ");

/** Words drawn at random, so that a text is never said twice. */
export function randomWords(count: number): readonly string[] {
  return Array.from({ length: count }, () => wordAt(Math.floor(Math.random() * WORD_LIST.length)));
}

/** Words that are the same for the same name. */
export function wordsOf(name: string, count: number): readonly string[] {
  let state = [...name].reduce((hash, letter) => (hash * 31 + (letter.codePointAt(0) ?? 0)) % MODULUS, 7);
  return Array.from({ length: count }, () => {
    state = (state * MULTIPLIER) % MODULUS;
    return wordAt(state % WORD_LIST.length);
  });
}

/** The generator of Lehmer, with the numbers of Park and Miller. */
const MODULUS = 2_147_483_647;
const MULTIPLIER = 48_271;

function wordAt(place: number): string {
  return WORD_LIST[place] ?? "word";
}
