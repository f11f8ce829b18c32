// Turns of several servers, and the table of what was measured.

/** How many turns each server has in each row. */
export const TURNS = 10

/** Measures each server `TURNS` times, in one order and then in the other. */
export async function inTurns<Server, Measured>(
  servers: readonly Server[],
  measure: (server: Server) => Promise<Measured>,
): Promise<Measured[][]> {
  const measured = servers.map((): Measured[] => [])
  const order = [...servers.entries()]
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [i, server] of order) measured[i]!.push(await measure(server))
    order.reverse()
  }
  return measured
}

/** Prints the head of the table. The service comes first; its peers follow. */
export const showHead = (names: string[]): void =>
  show('', [...names, ...names.slice(1).map((peer) => `÷ ${peer}`)])

/** Prints the medians, and those of the service's share of each peer in the same turn. */
export function showRow(title: string, measured: number[][]): void {
  const [service = [], ...peers] = measured
  const ratios = peers.map((peer) => median(service.map((value, turn) => value / peer[turn]!)))
  const medians = measured.map((turns) => median(turns).toFixed(0))
  show(title, [...medians, ...ratios.map((ratio) => ratio.toFixed(2))])
}

const show = (title: string, cells: string[]) =>
  console.log(title.padEnd(54) + cells.map((cell) => cell.padStart(11)).join(''))

function median(values: number[]): number {
  const ascending = values.toSorted((a, b) => a - b)
  const middle = ascending.length / 2
  return (ascending[Math.ceil(middle) - 1]! + ascending[Math.floor(middle)]!) / 2
}
