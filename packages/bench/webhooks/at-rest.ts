// Measures how soon a single change arrives at its receiver while the server is otherwise idle.
import { median } from '../measure.ts'
import type { Server } from '../processes.ts'
import { check, print, table, title } from '../report.ts'
import { writtenInvoice } from './invoice.ts'
import { nowMs, type Receiver } from './receiver.ts'
import { loadUndici } from './undici.ts'

const { Agent, request } = loadUndici()

/** Changes at the start that are not counted. */
const warmUp = 50
const mostMs = 1_000

/** Expects a server with one endpoint, which is healthy. */
export async function atRest(receiver: Receiver, server: Server, key: string, changes: number): Promise<void> {
	const fromRequest: number[] = []
	const fromAnswer: number[] = []
	const dispatcher = new Agent({ connections: 1 })
	const { status: _status, ...draft } = writtenInvoice
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
	for (let n = 0; n < warmUp + changes; n++) {
		const [arrival] = (await receiver.expect(1)) as [Promise<number>]
		const sent = nowMs()
		const answer = await request(`${server.url}/api/invoices`, {
			method: 'POST',
			dispatcher,
			headers,
			body: JSON.stringify(draft),
		})
		const answered = nowMs()
		await answer.body.dump()
		if (answer.statusCode !== 201) throw new Error(`a create is answered ${answer.statusCode}`)
		const arrived = await arrival
		if (n < warmUp) continue
		fromRequest.push(arrived - sent)
		fromAnswer.push(arrived - answered)
	}
	report(fromRequest, fromAnswer)
}

function report(fromRequest: readonly number[], fromAnswer: readonly number[]): void {
	const line = (what: string, times: readonly number[]) => {
		const sorted = times.toSorted((one, other) => one - other)
		const p99 = sorted[Math.floor(0.99 * sorted.length)] as number
		return [what, median(sorted).toFixed(2), p99.toFixed(2), (sorted.at(-1) as number).toFixed(2)]
	}
	title(`From a change to its arrival, ${fromRequest.length} changes one after the other`)
	const whole = line('from the request on', fromRequest)
	table(['', 'p50 ms', 'p99 ms', 'longest ms'], [whole, line('from its answer on', fromAnswer)])
	const text = `from a change's request to the arrival of its webhook: p99 ${whole[2]} ms`
	print(`- ${text} (target: < ${mostMs}) ${check(text, Number(whole[2]) < mostMs)}\n`)
}
