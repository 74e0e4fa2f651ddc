// Section `operations` checks that a request costs the same with 10 operations in the contract as with 100. Both servers are
// copies of the built one, whose generated files are cut, or padded with clones of `invoices.get`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Run } from './context.ts'
import { copyDatabase } from './databases.ts'
import { getLoad } from './loads.ts'
import { measure, ratio } from './measure.ts'
import { copyServer, startRemit } from './remit.ts'
import { check, figureHeadings, figures, print, table, title } from './report.ts'

const [few, many] = [10, 100]

/** The operation that is measured and cloned. */
const kept = 'invoices.get'
const [clonedPath, allowed] = ['/api/invoices/{id}', 0.05]

export async function operations(run: Run): Promise<void> {
	const servers = []
	for (const count of [few, many]) {
		const copy = copyServer(`${count}-operations`, run.server)
		await setOperations(join(copy, 'dist/src'), count)
		servers.push(await startRemit(`${count} operations`, copy, { DATA_DIR: copyDatabase(`${count}-operations`, run.database) }))
	}
	const samples = await measure(servers, getLoad(run.seed), run)
	const grown = ratio(samples, `${few} operations`, `${many} operations`) - 1
	title(`GET one invoice, by the number of operations in the contract`)
	table(
		['', ...figureHeadings],
		[...samples.keys()].map((name) => [name, ...figures(samples, name)]),
	)
	const text = `CPU with ${many} operations is ${percent(grown)} than with ${few} (target: within 5 %)`
	print(`- ${text} ${check(text, grown <= allowed)}\n`)
	for (const server of servers) await server.stop()
}

export const percent = (share: number) => `${Math.abs(share * 100).toFixed(1)} % ${share < 0 ? 'less' : 'more'}`

interface Entry {
	readonly id: string
	readonly path: string
	readonly method: string
}
type Paths = Record<string, Record<string, object>>

/** Gives the generated table, the document and the handlers of a server `count` operations. */
async function setOperations(dist: string, count: number): Promise<void> {
	const tablesFile = join(dist, 'generated/tables.js')
	const documentFile = join(dist, 'generated/openapi.json')
	const tables = { ...(await import(pathToFileURL(tablesFile).href)) } as { operationTable: Entry[] }
	const document = JSON.parse(readFileSync(documentFile, 'utf8')) as { paths: Paths }
	const all = tables.operationTable
	const original = all.find(({ id }) => id === kept) as Entry
	const table = [original, ...all.filter((entry) => entry !== original)].slice(0, count)
	removeOthers(document.paths, new Set(table.map(({ id }) => id)))
	for (let n = 0; table.length < count; n++) {
		const path = clonedPath.replace('invoices', `pad${n}`)
		table.push({ ...original, id: `pad.${n}`, path })
		document.paths[path] = {
			...(document.paths[clonedPath]?.parameters && { parameters: document.paths[clonedPath].parameters }),
		}
		document.paths[path].get = { ...document.paths[clonedPath]?.get, operationId: `pad.${n}` }
	}
	const exported = Object.entries({ ...tables, operationTable: table })
	writeFileSync(tablesFile, exported.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`).join(''))
	writeFileSync(documentFile, JSON.stringify(document))
	const handlersFile = join(dist, 'operations.js')
	const pad = `for (let n = 0; n < ${count}; n++) handlers['pad.' + n] = handlers['${kept}'];\n`
	writeFileSync(handlersFile, `${readFileSync(handlersFile, 'utf8')}\n${pad}`)
}

function removeOthers(paths: Paths, ids: ReadonlySet<string>): void {
	for (const [path, methods] of Object.entries(paths)) {
		for (const [method, operation] of Object.entries(methods)) {
			const { operationId } = operation as { operationId?: string }
			if (operationId !== undefined && !ids.has(operationId)) delete methods[method]
		}
		if (!Object.values(methods).some((operation) => 'operationId' in operation)) delete paths[path]
	}
}
