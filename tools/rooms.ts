// docs/rooms.md, the map of the server: what the README of each context says, and what its doors are.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const contexts = ['platform', 'accounts', 'billing', 'integration', 'app']

const head = `# The rooms of the server

\`packages/server/src\` has five **contexts**. A **room** is a folder of a context, and a folder in a room is part of the room. Imports
run one way:

\`\`\`
platform ← accounts ← billing, integration ← app
\`\`\`

- Billing and integration do not know each other: \`introductions.ts\` hands in what they need.
- \`generated/\` and the platform are open to all. Of another context only \`doors.ts\` is, and \`part.ts\` to the app.
- No files and no rooms import each other in a circle. A folder has at most 14 source files, not counting folders in it.
- Queries are built in \`*store.ts\` only. A record is inserted, updated or removed by the room of its store only; others call its
  \`create…\`, \`change…\` or \`remove…\`. Handlers are imported by \`part.ts\` only. Drivers are loaded by \`platform/db/\`, packages
  that open connections by \`platform/outside/\`. A migration imports nothing of \`src/\`.

\`direction.test.ts\` and \`stores.test.ts\` in \`packages/server/test/\` check this; \`import type\` counts. Tests stand beside the file
that they test; tests of the whole server, and what tests share, are in \`packages/server/test/\`.

## Where a new file goes

1. It is about one resource: the room of the resource. Queries in \`store.ts\` (or \`<word>-store.ts\`), handlers in \`handlers.ts\` (or
   \`<word>-handlers.ts\`), a rule in a file that has the rule's name.
2. It is about all resources: the room of the platform that has its subject.
3. Two rooms need it: the lower of the two, or a room below both. What the lower one needs of the upper one is passed in.
4. Another context needs it: a line in \`doors.ts\`.
`

const tail = `
## Outside of src/

| folder | what it is |
|---|---|
| \`spec/\` | the contract in TypeSpec; \`openapi.yaml\` is generated from it |
| \`packages/server/migrations/\` | one file a migration; \`index.ts\` is generated from their names |
| \`packages/server/test/\` | tests of the whole server, and the harness that tests share |
| \`packages/server/test/vendors/\` | stand-ins of HubSpot, Xero and Stripe, with their limits and faults, in the process of a test or in their own |
| \`packages/sdk/\` | the client: \`src/generated/\` from the contract, a runtime written by hand |
| \`packages/web/\` | the web application, one more client of the SDK |
| \`packages/bench/\` | \`pnpm bench\`: loads, the three rivals written by hand, and in \`scale/\` what [several servers](guides/scale.md) need |
| \`packages/contract-diff/\` | compares two versions of the contract ([what counts as breaking](../packages/contract-diff/README.md)) |
| \`tools/\` | what writes and checks: \`generate.ts\`, \`check.ts\`, lints, packed packages, mutants |
| \`docs/\` | this folder |
`

/** The page, from the folder of the sources. Throws when a room has no line in the README of its context. */
export function writeRooms(src: string, banner: string): string {
	return `<!-- ${banner} -->\n${head}\n${contexts.map((context) => section(src, context)).join('\n')}${tail}`
}

function section(src: string, context: string): string {
	const folder = join(src, context)
	const text = readFileSync(join(folder, 'README.md'), 'utf8').replace(/^# .*/, '').trim()
	const rooms = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
	for (const { name } of rooms)
		if (!text.includes(`| \`${name}/\` |`)) throw new Error(`${context}/README.md has no line for the room ${name}/`)
	return `## ${context}\n\n${text}\n${doorsOf(folder, context)}`
}

function doorsOf(folder: string, context: string): string {
	if (!readdirSync(folder).includes('doors.ts')) return ''
	const lists = [...readFileSync(join(folder, 'doors.ts'), 'utf8').matchAll(/export (?:type )?\{([^}]+)\}/g)]
	const names = lists.flatMap(([, list = '']) => list.split(',').map((name) => name.trim().replace(/^type /, '')))
	const sorted = names.filter((name) => name !== '').sort((a, b) => a.localeCompare(b))
	return `\nDoors of ${context}: ${sorted.map((name) => `\`${name}\``).join(', ')}.\n`
}
