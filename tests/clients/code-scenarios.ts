/** Sales of three birds over two months, as a file that a client uploads. */
export const SALES = "bird,month,sold\nheron,1,3\nowl,1,5\nheron,2,4\nduck,2,9\n";

const READ = `import csv
rows = list(csv.DictReader(open('/mnt/data/sales.csv')))
print(len(rows), 'rows')`;

/** Goes on with the variable of the first turn. */
const SUM = `from collections import Counter
sold = Counter()
for row in rows:
    sold[row['bird']] += int(row['sold'])
dict(sold)`;

/** Goes on with the variable of the second turn. Where matplotlib is missing, it writes the PNG by itself. */
const DRAW = `try:
    import matplotlib.pyplot as plt
    plt.bar(list(sold), list(sold.values()))
    plt.savefig('/mnt/data/chart.png')
    plt.show()
except ImportError:
    import struct, zlib
    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    most = max(sold.values())
    lines = b''.join(b'\\0' + bytes(0 if n > y else 255 for n in sold.values()) for y in reversed(range(most)))
    size = struct.pack('>IIBBBBB', len(sold), most, 8, 0, 0, 0, 0)
    with open('/mnt/data/chart.png', 'wb') as file:
        file.write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', size) + chunk(b'IDAT', zlib.compress(lines)) + chunk(b'IEND', b''))`;

/** What a client asks in one turn, and the code with which the model answers it. */
export const TURNS = [
  { input: "Read the table.", code: READ, text: "There are four rows." },
  { input: "Sum the sales.", code: SUM, text: "Ducks sell best." },
  { input: "Draw a chart.", code: DRAW, text: "Here is [the chart](sandbox:/mnt/data/chart.png)." },
] as const;

/** What the second turn shows. */
export const SUMS = "{'heron': 7, 'owl': 5, 'duck': 9}";

/** A model that writes the code of these turns, and counts words with a command if it is asked to. */
export const CODE_SCENARIOS = JSON.stringify({
  models: ["gpt-5-mini"],
  scenarios: [
    ...TURNS.flatMap(({ input, code, text }) => [
      {
        when: { input_contains: input, has_tool_output: false },
        events: [{ call: { name: "code_interpreter", arguments: { code } } }],
      },
      { when: { input_contains: input }, events: [{ text }] },
    ]),
    {
      when: { input_contains: "Count the lines.", has_tool_output: false },
      events: [{ call: { name: "shell", arguments: { commands: ["wc -l < sales.csv", "exit 3"] } } }],
    },
    { when: { input_contains: "Count the lines." }, events: [{ text: "There are five." }] },
  ],
});
