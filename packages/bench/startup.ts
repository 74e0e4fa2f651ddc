// Section `startup` measures the time from the start of the process to its first answer, on an existing database, and the memory
// after that answer and under load.
import type { Run } from './context.ts'
import { copyDatabase } from './databases.ts'
import { createLoad, getLoad, listLoad, searchLoad } from './loads.ts'
import { measure, median } from './measure.ts'
import { startRemit } from './remit.ts'
import { check, print, title } from './report.ts'

const [mostMs, mostMegabytes] = [1_500, 150]

export async function startup(run: Run): Promise<void> {
	const folder = copyDatabase('startup', run.database)
	const times: number[] = []
	const atRest: number[] = []
	for (let n = 0; n < (run.quick ? 1 : 5); n++) {
		const begun = performance.now()
		const server = await startRemit('startup', run.server, { DATA_DIR: folder })
		const response = await fetch(`${server.url}/api/invoices?limit=1`, { headers: { authorization: `Bearer ${run.key}` } })
		await response.json()
		times.push(performance.now() - begun)
		atRest.push(server.rssMegabytes())
		await server.stop()
		if (response.status !== 200) throw new Error(`the first answer is ${response.status}`)
	}
	const ms = median(times)
	title('Start and memory')
	print(
		`\n- start to first answer: ${ms.toFixed(0)} ms (target: < ${mostMs}) ${check(`start: ${ms.toFixed(0)} ms`, ms < mostMs)}`,
	)
	print(`- RSS after the first answer: ${median(atRest).toFixed(0)} MB`)
	const rss = await memoryUnderLoad(run, folder)
	const text = `memory under load: ${rss.toFixed(0)} MB`
	print(`- RSS under load: ${rss.toFixed(0)} MB (target: < ${mostMegabytes}) ${check(text, rss < mostMegabytes)}\n`)
}

async function memoryUnderLoad(run: Run, folder: string): Promise<number> {
	const server = await startRemit('memory', run.server, { DATA_DIR: folder })
	let most = 0
	for (const load of run.quick ? [listLoad] : [getLoad(run.seed), listLoad, searchLoad, createLoad]) {
		const samples = await measure([server], load, { ...run, rounds: 1 })
		most = Math.max(most, ...(samples.get(server.name) ?? []).map(({ rss }) => rss))
	}
	await server.stop()
	return most
}
