// Section `public` measures a client's view of an invoice by its link, beside a GET with a key. The server counts every view,
// which is a write; a GET with a key writes nothing.
import { callJson } from './calls.ts'
import type { Run } from './context.ts'
import { copyDatabase } from './databases.ts'
import type { Load } from './load.ts'
import { getLoad } from './loads.ts'
import { measure, ratio } from './measure.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { figureHeadings, figures, table, title } from './report.ts'

/** The number of invoices with a link. */
const linkCount = 200

export async function publicView(run: Run): Promise<void> {
	const server = await startRemit('public', run.server, { DATA_DIR: copyDatabase('public', run.database) })
	const get: Load = { method: 'GET', paths: getLoad(run.seed).paths.slice(0, linkCount) }
	const tokens = await Promise.all(get.paths.map((path) => tokenOf(server, run.key, path)))
	const paths = (prefix: string): Load => ({ method: 'GET', paths: tokens.map((token) => `${prefix}/${token}`) })
	const withKey = 'GET with a key'
	const loads = new Map([
		[withKey, get],
		['by the link, JSON', paths('/api/invoices/public')],
		['by the link, page', paths('/view/invoice')],
	])
	// One server under three names, one for each kind of request.
	const servers = [...loads.keys()].map((name) => ({ ...server, name }))
	const samples = await measure(servers, ({ name }) => loads.get(name) ?? get, run)
	title('One invoice, by key and by link')
	table(
		['', ...figureHeadings, `its CPU ÷ ${withKey}`],
		[...samples.keys()].map((name) => [name, ...figures(samples, name), ratio(samples, withKey, name).toFixed(2)]),
	)
	await server.stop()
}

async function tokenOf(server: Server, key: string, path: string): Promise<string> {
	const { url } = await callJson(server, key, { method: 'POST', path: `${path}/client-link` })
	return url.slice(url.lastIndexOf('/') + 1)
}
