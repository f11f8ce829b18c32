// Turns of several servers, and the table of what came out.
import type { Kind } from './server.ts'

/** What was measured of a server, by the name of the column. */
export type Row = Record<string, number>

/** Lets each kind of server have its turns, in one order and then in the other. @returns medians */
export async function alternate(
  kinds: readonly Kind[],
  rounds: number,
  turn: (kind: Kind) => Promise<Row>,
): Promise<Map<Kind, Row>> {
  const seen = new Map<Kind, Row[]>(kinds.map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of round % 2 ? kinds.toReversed() : kinds) {
      seen.get(kind)!.push(await turn(kind))
    }
  }
  return new Map([...seen].map(([kind, rows]) => [kind, medians(rows)]))
}

function medians(rows: Row[]): Row {
  const columns = Object.keys(rows[0]!)
  return Object.fromEntries(
    columns.map((column) => {
      const ascending = rows.map((row) => row[column]!).toSorted((a, b) => a - b)
      return [column, ascending[Math.floor(rows.length / 2)]!]
    }),
  )
}

/** Prints the servers one below the other, and the service's share of what Fastify has. */
export function show(title: string, rows: Map<Kind, Row>): void {
  const [service, fastify] = [rows.get('service')!, rows.get('fastify')!]
  const columns = Object.keys(service)
  const line = (cells: string[]) => console.log(cells.map((cell) => cell.padStart(16)).join(''))
  console.log(`\n${title}`)
  line(['', ...columns])
  for (const [kind, row] of rows) line([kind, ...columns.map((column) => digits(row[column]!))])
  line(['service/fastify', ...columns.map((column) => digits(service[column]! / fastify[column]!))])
}

const digits = (number: number): string => number.toFixed(number >= 100 ? 0 : number >= 10 ? 1 : 2)
