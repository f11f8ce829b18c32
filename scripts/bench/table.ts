// Turns of several programs, and the table of what was measured.

/** How many turns each program has in each row: an odd number. */
export const TURNS = 9

/** Prints the head of the table. The service comes first; its peers follow. */
export const showHead = ([service = '', ...peers]: string[]): void =>
  show('\n', [service, ...peers, ...peers.map((peer) => `÷ ${peer}`)])

/**
 * Measures the programs in turns, alternating the order. Prints one row per title, for the number at the same
 * place in the result of `measure`: the median of each program, and the median ratio of the service to each peer.
 */
export async function showRows<Program>(
  titles: string[],
  programs: readonly Program[],
  measure: (program: Program) => Promise<number[]>,
): Promise<void> {
  const measured = programs.map((): number[][] => [])
  const order = [...programs.entries()]
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [i, program] of order) measured[i]!.push(await measure(program))
    order.reverse()
  }
  for (const [row, title] of titles.entries()) {
    const [service = [], ...peers] = measured.map((turns) => turns.map((numbers) => numbers[row]!))
    const ratios = peers.map((peer) => median(service.map((value, turn) => value / peer[turn]!)))
    const medians = [service, ...peers].map((turns) => median(turns).toFixed(0))
    show(title, [...medians, ...ratios.map((ratio) => ratio.toFixed(2))])
  }
}

export const show = (title: string, cells: string[]): void =>
  console.log(title.padEnd(40) + cells.map((cell) => cell.padStart(11)).join(''))

/** @param values one for each turn, of which there is an odd number */
const median = (values: number[]) => values.toSorted((a, b) => a - b)[(TURNS - 1) / 2]!
