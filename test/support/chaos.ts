/** How much of a thing to do: a little in every run, much in `npm run chaos`. */
export const times = (little: number, much: number): number =>
  process.env['CHAOS'] ? much : little
