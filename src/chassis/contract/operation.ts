// One operation of a contract.

/** What routing, reading and writing need. */
export interface Operation {
  id: string
  /** In lower case. */
  method: string
  /** The path template, e.g. `/notes/{id}` (OpenAPI 3.0.3, Paths Object). */
  path: string
  /** Whether only callers that the guard has identified may use it (OpenAPI 3.0.3, Security Requirement Object). */
  isProtected: boolean
  /** The schema of its request body, which is JSON; none if it takes no body. */
  bodySchema?: object & { required?: string[] }
  parameters: Parameter[]
  /** By status: its media types, of which the first is the default. */
  responses: Record<string, string[]>
}

/** OpenAPI 3.0.3, Parameter Object. */
export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  style?: string
  explode?: boolean
  /** A parameter without one is refused. */
  schema?: Schema
}

/** What is read of a Schema Object; Ajv reads all of it. */
export interface Schema {
  type?: string
  format?: string
  items?: Schema
}
