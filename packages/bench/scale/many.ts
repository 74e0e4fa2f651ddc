// The standby is gone, and nobody acts, while so many organizations write that each connection of PostgreSQL could wait for it.
import { setTimeout as sleep } from 'node:timers/promises'
import { check, table, title } from '../report.ts'
import type { Stack } from './stack.ts'

const seconds = 100
const writesPerSecond = 12
const reads = 3

type Answers = Map<number | string, number>

export async function manyWrite(stack: Stack, keys: readonly string[]): Promise<void> {
	title(`The standby is gone for ${seconds} s, and ${keys.length} organizations write`)
	const [written, read]: [Answers, Answers] = [new Map(), new Map()]
	const pending: Promise<void>[] = []
	const ask = async (answers: Answers, method: string, path: string, index: number) => {
		const headers = { authorization: `Bearer ${keys[index % keys.length]}`, 'content-type': 'application/json' }
		const request = { method, headers, signal: AbortSignal.timeout(20_000), ...(method === 'POST' && { body: '{"name":"One"}' }) }
		const status = await fetch(stack.url + path, request).then(
			(response) => response.text().then(() => response.status),
			(error: Error) => error.name,
		)
		answers.set(status, (answers.get(status) ?? 0) + 1)
	}
	stack.killCluster(stack.standby)
	for (let index = 0; index < seconds * writesPerSecond; index++) {
		pending.push(ask(written, 'POST', '/api/companies', index))
		if (index % (writesPerSecond / reads) === 0) pending.push(ask(read, 'GET', '/api/invoices?limit=2', index))
		await sleep(1_000 / writesPerSecond)
	}
	await Promise.all(pending)
	await stack.startCluster(stack.standby)
	const began = performance.now()
	const afterwards: Answers = new Map()
	while (!afterwards.has(201) && performance.now() < began + 30_000) await ask(afterwards, 'POST', '/api/companies', 0)
	const failed = [...read].filter(([status]) => status !== 200).reduce((sum, [, count]) => sum + count, 0)
	const figures = [show(written), show(read), ((performance.now() - began) / 1_000).toFixed(1)]
	const mark = check(`reads without a standby: ${show(read)}`, failed === 0 && afterwards.has(201))
	table(['', 'writes', 'reads', 's until a write, once it is back', ''], [['', ...figures, mark]])
}

const show = (answers: Answers) => [...answers].map(([status, count]) => `${count} × ${status}`).join(', ')
