// Section `pdf` measures the rendering of an invoice by its number of pages, and how long other requests wait meanwhile. The
// server renders in a thread of its own, which here shares one core with it.
import { type Call, call, callAll, callJson, measureCalls } from './calls.ts'
import type { Run } from './context.ts'
import { copyDatabase } from './databases.ts'
import { getLoad } from './loads.ts'
import { medianOf, type Sample } from './measure.ts'
import type { Server } from './processes.ts'
import { startRemit } from './remit.ts'
import { print, table, title } from './report.ts'

/** How many line items, of three lines of text each, fill each number of pages. */
const documents = [
	{ pages: 1, lines: 3 },
	{ pages: 5, lines: 60 },
	{ pages: 30, lines: 430 },
] as const

/** Different invoices of each size, so that no render profits from Typst's cache, which keeps the results of the last render. */
const invoicesOfSize = 12

/** GETs in a round: enough for a p99. */
const getsInRound = 2_000

export async function pdf(run: Run): Promise<void> {
	const server = await startRemit('pdf', run.server, { DATA_DIR: copyDatabase('pdf', run.database) })
	const renders = new Map<number, Call[]>()
	for (const { pages, lines } of documents) {
		const invoices = Array.from({ length: invoicesOfSize }, (_, n) => writtenInvoice(server, run.key, n, lines))
		renders.set(pages, await Promise.all(invoices))
	}
	const first = await callAll(server, run.key, [renders.get(1)?.[0] as Call])
	for (const [pages, [render]] of renders) await expectPages(server, run.key, render as Call, pages)
	await byPages(server, run, renders, first)
	await measureGetsBeside(server, run, renders.get(5) ?? [])
	await server.stop()
}

async function byPages(server: Server, run: Run, renders: ReadonlyMap<number, readonly Call[]>, first: Sample): Promise<void> {
	const kinds = new Map([...renders].map(([pages, calls]) => [String(pages), () => calls]))
	const samples = await measureCalls(server, run, kinds, 1)
	const lines = [...renders.keys()].map((pages) => {
		const middle = (figure: (sample: Sample) => number) => medianOf(samples, String(pages), figure)
		const ms = middle(({ p50 }) => p50)
		const cpu = middle(({ cpuMicros }) => cpuMicros) / 1000
		return [String(pages), ms.toFixed(1), (ms / pages).toFixed(1), cpu.toFixed(1), middle(({ rss }) => rss).toFixed(0)]
	})
	title('PDFs by their number of pages, one after the other')
	table(['pages', 'ms', 'ms/page', 'CPU ms', 'RSS MB'], lines)
	print(`- the first PDF of a process: ${first.p50.toFixed(0)} ms\n`)
}

/** Measures GETs by a few callers, alone and while the server renders PDFs one after the other. */
async function measureGetsBeside(server: Server, run: Run, renders: readonly Call[]): Promise<void> {
	const gets = getLoad(run.seed)
		.paths.slice(0, getsInRound)
		.map((path): Call => ({ method: 'GET', path }))
	const quiet: Sample[] = []
	const beside: Sample[] = []
	for (let round = 0; round < run.rounds; round++) {
		quiet.push(await callAll(server, run.key, gets))
		let done = false
		const render = async () => {
			for (let n = 0; !done; n++) await call(server, run.key, renders[n % renders.length] as Call)
		}
		const getting = callAll(server, run.key, gets).finally(() => {
			done = true
		})
		const [sample] = await Promise.all([getting, render()])
		beside.push(sample)
	}
	const samples = new Map([
		['alone', quiet],
		['beside PDFs', beside],
	])
	title('GET one invoice by a few callers, alone and while PDFs of 5 pages are rendered')
	const figure = (name: string, one: (sample: Sample) => number) => medianOf(samples, name, one).toFixed(2)
	table(
		['', 'p50 ms', 'p99 ms'],
		[...samples.keys()].map((name) => [name, figure(name, ({ p50 }) => p50), figure(name, ({ p99 }) => p99)]),
	)
}

/** Creates an invoice with `count` lines that differ from all others; returns the call that renders it. */
async function writtenInvoice(server: Server, key: string, invoice: number, count: number): Promise<Call> {
	const lineItems = Array.from({ length: count }, (_, n) => ({
		description: `Interface design\nCheckout ${invoice + 1}, week ${n + 1}\nAs agreed in our call of 2 October`,
		quantity: '7.5',
		unit: 'hour',
		unitPriceCents: 9_500 + 500 * invoice + n,
	}))
	const body = { currency: 'EUR', taxRate: 19, lineItems }
	const { id } = await callJson(server, key, { method: 'POST', path: '/api/invoices', body })
	return { method: 'GET', path: `/api/invoices/${id}/pdf` }
}

/** Fails when a changed template sets the same lines on another number of pages. */
async function expectPages(server: Server, key: string, render: Call, pages: number): Promise<void> {
	const text = new TextDecoder('latin1').decode(await call(server, key, render))
	const found = text.match(/\/Type\s*\/Page\b/g)?.length
	if (found !== pages) throw new Error(`a PDF that was to have ${pages} pages has ${found}`)
}
