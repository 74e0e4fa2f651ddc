// Kills or freezes one part after the other while clients write and read, and compares what they were answered with what is there afterwards.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Run } from '../context.ts'
import { check, print, table, title } from '../report.ts'
import { type Audit, audit } from './audit.ts'
import { Clients } from './clients.ts'
import type { Receiver } from './receiver.ts'
import { apis, type Cluster, type Stack } from './stack.ts'

interface Kill {
	readonly what: string
	/** Kills it, and resolves when whoever watches it has done what the guide says. */
	readonly kill: (stack: Stack) => Promise<unknown>
	/** Seconds until somebody acts. */
	readonly waits?: number
	/** Whether the primary is without a standby afterwards. */
	readonly isAlone?: boolean
}

const part = (name: string, what: string): Kill => ({
	what,
	kill: async ({ parts }) => parts.signal(name, 'SIGKILL'),
})

const kills: readonly Kill[] = [
	part('one', 'a server with ROLE=api'),
	{
		what: 'a server with ROLE=api, frozen for half a minute',
		kill: async ({ parts }) => {
			parts.signal('one', 'SIGSTOP')
			await sleep(30_000)
			parts.signal('one', 'SIGCONT')
		},
	},
	part('worker-one', 'a server with ROLE=worker'),
	part('haproxy', 'HAProxy'),
	part('pgbouncer', 'PgBouncer'),
	part('redis', 'Redis'),
	{
		what: 'the standby, started again',
		kill: async (stack) => {
			stack.killCluster(stack.standby)
			await stack.startCluster(stack.standby)
		},
	},
	{
		what: 'the standby, and the primary goes on alone',
		kill: async (stack) => {
			stack.killCluster(stack.standby)
			await sleep(3_000)
			await stack.waitFor('')
		},
		isAlone: true,
	},
	{
		what: 'the standby, and nobody acts for half a minute',
		kill: async (stack) => {
			stack.killCluster(stack.standby)
			await sleep(30_000)
			await stack.waitFor('')
		},
		waits: 30,
		isAlone: true,
	},
	{
		what: 'the standby, frozen for half a minute',
		kill: async (stack) => {
			stack.signalCluster(stack.standby, 'SIGSTOP')
			await sleep(30_000)
			stack.signalCluster(stack.standby, 'SIGCONT')
		},
		waits: 30,
	},
	{
		what: 'the primary, and the standby takes over',
		kill: async (stack) => {
			const old = stack.primary
			stack.killCluster(old)
			await stack.promoted()
			await staysAway(stack, old)
		},
		isAlone: true,
	},
	{
		what: 'the primary, frozen, and the standby takes over',
		kill: async (stack) => {
			const old = stack.primary
			stack.signalCluster(old, 'SIGSTOP')
			await stack.promoted()
			await staysAway(stack, old)
		},
		isAlone: true,
	},
	{
		what: 'the primary, which has left the standby behind, started again',
		kill: async (stack) => {
			const { primary, standby } = stack
			stack.killCluster(standby)
			await stack.waitFor('')
			await sleep(2_000)
			stack.cutOff(standby)
			await stack.startCluster(standby)
			stack.killCluster(primary)
			await sleep(9_000)
			await stack.startCluster(primary)
		},
		waits: 9,
		isAlone: true,
	},
	{
		what: 'the primary, frozen for 9 s while it is alone',
		kill: async (stack) => {
			stack.killCluster(stack.standby)
			await stack.waitFor('')
			stack.signalCluster(stack.primary, 'SIGSTOP')
			await sleep(9_000)
			stack.signalCluster(stack.primary, 'SIGCONT')
		},
		waits: 9,
		isAlone: true,
	},
	{
		what: 'no part, but six pg_dumps run',
		kill: (stack) => stack.dump(6),
	},
	{
		what: 'no part, but PgBouncer leads to the standby for 5 s',
		kill: async (stack) => {
			stack.lead(stack.standby)
			await sleep(5_000)
			stack.lead(stack.primary)
		},
	},
]

/** Starts a primary again that another has replaced; throws when it takes a write. */
async function staysAway(stack: Stack, old: Cluster): Promise<void> {
	await stack.startCluster(old)
	if (await stack.answersWrites(old)) throw new Error('the old primary, started again, answered a write')
}

/** Failover, from the kill to the next write. */
const mostSeconds = 30

interface Result extends Audit {
	readonly what: string
	/** The longest times without a success, and the time from the kill to the end of the last attempt that failed, in seconds. */
	readonly pauseOfWrites: number
	readonly pauseOfReads: number
	readonly lastFailure: number
	readonly requests: number
	readonly failed: readonly string[]
	readonly oldReads: number
	/** Events that the receiver got more than once, which it may. */
	readonly repeated: number
}

export async function killEach({ rounds }: Pick<Run, 'rounds'>, stack: Stack, keys: readonly string[], receiver: Receiver) {
	title(`Each part dies or freezes in turn, under load, ${rounds} times`)
	const results: Result[] = []
	for (let round = 0; round < rounds; round++) for (const one of kills) results.push(await killOne(one, stack, keys, receiver))
	const lines = kills.map(({ what, waits = 0 }) => {
		const own = results.filter((result) => result.what === what)
		const most = (figure: (result: Result) => number) => Math.max(...own.map(figure))
		const sum = (figure: (result: Result) => number) => own.reduce((all, result) => all + figure(result), 0)
		print(`- ${what}: ${reasons(own) || 'no request failed'}`)
		const seconds = [most((one) => one.pauseOfWrites), most((one) => one.pauseOfReads), most((one) => one.lastFailure)]
		const requests = [sum((one) => one.requests), sum((one) => one.failed.length)]
		const wrong = [
			sum(({ lost }) => lost),
			sum(({ doubled }) => doubled),
			sum(({ oldReads }) => oldReads),
			sum(({ numbers }) => numbers),
			sum(({ undelivered }) => undelivered),
		]
		const isRight = wrong.every((count) => count === 0) && (seconds[0] as number) <= waits + mostSeconds
		const again = sum(({ repeated }) => repeated)
		const figures = [...seconds.map((value) => value.toFixed(1)), ...[...requests, ...wrong, again].map(String)]
		return [what, ...figures, check(`${what}: ${figures}`, isRight)]
	})
	const times = ['s without a write', 'without a read', 'to the last failure']
	const counts = ['requests', 'of them failed', 'lost', 'doubled', 'old reads', 'wrong numbers']
	table(['', ...times, ...counts, 'events not delivered', 'delivered again', ''], lines)
}

async function killOne(
	{ what, kill, isAlone }: Kill,
	stack: Stack,
	keys: readonly string[],
	receiver: Receiver,
): Promise<Result> {
	// The kill before may have left a server that still starts.
	await stack.isSeen(apis.length)
	const clients = new Clients(stack.url, keys)
	const before = receiver.repeated
	clients.begin()
	await sleep(3_000)
	const killed = performance.now()
	await kill(stack)
	await sleep(8_000)
	await clients.end()
	const found = await audit(stack.databaseUrl(), clients, receiver)
	if (isAlone) await stack.follow()
	return {
		...found,
		what,
		repeated: receiver.repeated - before,
		pauseOfWrites: clients.pauseOfWrites(killed),
		pauseOfReads: clients.pauseOfReads(killed),
		lastFailure: clients.lastFailure(killed),
		requests: clients.requests,
		failed: clients.failed.map(({ why }) => why),
		oldReads: clients.oldReads,
	}
}

/** What the attempts were answered that failed, with their number. */
function reasons(results: readonly Result[]): string {
	const counts = [
		...Map.groupBy(
			results.flatMap(({ failed }) => failed),
			(why) => why,
		),
	].map(([why, all]) => `${all.length} × ${why}`)
	return counts.join(', ')
}
