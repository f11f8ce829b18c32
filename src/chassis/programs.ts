// The door for the programs of a service: what needs its contract and its configuration, and does not serve.
export { loadConfig } from './config/config.ts'
export { writeLines } from './contract/list-body.ts'
export { dereference } from './contract/resolve.ts'
export { validator } from './contract/validate.ts'
export { renameNoReplace, tryLink } from './files.ts'
