// The limit of requests of a key while Redis is there, while it is gone, and once it is back.
import { setTimeout as sleep } from 'node:timers/promises'
import { check, table, title } from '../report.ts'
import { apis, type Stack } from './stack.ts'

/** What INTEGRATION_RATE_LIMIT is by default. */
const limit = 100
/** How long a server takes to notice that Redis is back. */
const backMs = 2_500

/** `keys` are three that were not used before. */
export async function limits(stack: Stack, [first = '', second = '', third = '']: readonly string[]): Promise<void> {
	const together = await answered(stack, first)
	await stack.parts.stop('redis', 'SIGKILL')
	const apart = await answered(stack, second)
	await stack.parts.restart('redis')
	await sleep(backMs)
	const again = await answered(stack, third)
	const lines = [
		['with Redis', together, limit, together === limit],
		['without Redis', apart, `≤ ${limit * apis.length}`, apart >= limit && apart <= limit * apis.length],
		['Redis is back', again, limit, again === limit],
	] as const
	title(`Requests of a key in a minute that are answered, of ${5 * limit} at ${apis.length} servers`)
	table(
		['', 'answered', 'promised', ''],
		lines.map(([what, count, promised, met]) => [what, String(count), String(promised), check(`limits ${what}: ${count}`, met)]),
	)
}

async function answered({ url }: Stack, key: string): Promise<number> {
	let count = 0
	for (let sent = 0; sent < 5 * limit; sent += 20) {
		const headers = { authorization: `Bearer ${key}` }
		const statuses = await Promise.all(
			Array.from({ length: 20 }, async () => {
				const { status } = await fetch(`${url}/webhooks/endpoints`, { headers })
				return status
			}),
		)
		count += statuses.filter((status) => status === 200).length
		const other = statuses.find((status) => status !== 200 && status !== 429)
		if (other !== undefined) throw new Error(`a request was answered ${other}`)
	}
	return count
}
