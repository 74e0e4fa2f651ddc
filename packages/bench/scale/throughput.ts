// Creates and GETs a second through HAProxy, by one server, by two and by three.
import type { Run } from '../context.ts'
import { drive, type Load } from '../load.ts'
import { createLoad } from '../loads.ts'
import { median } from '../measure.ts'
import { check, table, title } from '../report.ts'
import { apis, type Stack } from './stack.ts'

/** `keys` are those of the organizations that create. */
export async function throughput(run: Run, stack: Stack, keys: readonly string[], gets: Load): Promise<void> {
	const loads: Record<string, Load> = {
		[`creates in ${keys.length} organizations`]: { ...createLoad, keys },
		'GETs of an invoice': gets,
	}
	title(
		'Requests a second through HAProxy (HAProxy, servers, workers, PgBouncer, PostgreSQL twice and the driver on the same cores)',
	)
	const lines = new Map(Object.keys(loads).map((what) => [what, [] as string[]]))
	for (const name of apis.slice(1)) await stack.parts.stop(name)
	for (const [index, name] of apis.entries()) {
		if (index > 0) await stack.parts.restart(name)
		await stack.isSeen(index + 1)
		for (const [what, load] of Object.entries(loads)) {
			// Not counted: Node compiles the code during the first requests.
			await drive(stack.url, run.key, load, { connections: run.connections, seconds: 2 })
			const rates: number[] = []
			for (let round = 0; round < run.rounds; round++) {
				const { requests, seconds, failed } = await drive(stack.url, run.key, load, run)
				check(`${failed} of ${requests} ${what} through HAProxy failed`, failed === 0)
				rates.push(requests / seconds)
			}
			lines.get(what)?.push(median(rates).toFixed(0))
		}
	}
	table(
		['', 'one server', 'two', 'three'],
		[...lines].map(([what, rates]) => [what, ...rates]),
	)
}
