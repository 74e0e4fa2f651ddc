// The calls as a program: Node, Bun and Deno.
import { calls } from './calls.js'

const [apiKey, baseUrl] = process.argv.slice(2)
console.log(await calls({ apiKey, baseUrl }))
