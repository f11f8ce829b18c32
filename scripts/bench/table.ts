// Compares two programs, and prints the table of what was measured.

/** How many pairs of fresh processes are compared, in both orders. */
const PAIRS = 4
/** How often each process of a pair is measured, in turns: what else the machine does then meets both. */
const SLICES = 6

export const METHOD = `${PAIRS} pairs of fresh processes, each measured ${SLICES} times, in turns`

/** A process that is ready to be measured. */
export interface Measurable {
  /** Measures it once. */
  measure: () => Promise<number>
  stop: () => Promise<void>
}

export type Pair<T> = readonly [T, T]

/** Prints the head of the table. */
export const showHead = ([service, peer]: Pair<string>): void =>
  show('\n', [service, peer, `÷ ${peer}`, '  in each pair'])

/**
 * Prints a row: the median of each of two programs; the median ratio of the first to the second, of measurements that
 * followed each other; and this ratio in each pair of processes.
 *
 * @param begin starts a process
 */
export async function showRow<Program>(
  title: string,
  programs: Pair<Program>,
  begin: (program: Program) => Promise<Measurable>,
): Promise<void> {
  const measured: Pair<number[]> = [[], []]
  const order: (0 | 1)[] = [0, 1]
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const processes: [number[], Measurable][] = []
    for (const i of order) processes.push([measured[i], await begin(programs[i])])
    for (let slice = 0; slice < SLICES; slice += 1)
      for (const [values, { measure }] of processes) values.push(await measure())
    for (const [, { stop }] of processes) await stop()
    order.reverse()
  }
  const [service, peer] = measured
  const ratios = service.map((value, i) => value / peer[i]!)
  const ofPairs = [...Array(PAIRS).keys()].map((i) => ratios.slice(i * SLICES, (i + 1) * SLICES))
  const inPairs = ofPairs.map((pair) => median(pair).toFixed(2))
  const medians = [service, peer].map((values) => median(values).toFixed(0))
  show(title, [...medians, median(ratios).toFixed(2), `  ${inPairs.join(' ')}`])
}

const show = (title: string, cells: string[]): void =>
  console.log(title.padEnd(40) + cells.map((cell) => cell.padStart(11)).join(''))

function median(values: number[]): number {
  const [sorted, half] = [values.toSorted((a, b) => a - b), values.length / 2]
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2
}
