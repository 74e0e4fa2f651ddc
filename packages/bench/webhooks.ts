// Section `webhooks` measures how fast a queue of deliveries drains, beside a loop that only signs and sends; how much a receiver
// that hangs or fails slows the others; how soon a change is delivered; how much requests and creates slow down.

import { createOrganization } from '../server/src/introductions.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import type { Database } from '../server/src/platform/db/database.ts'
import type { Run } from './context.ts'
import { copyDatabase, fileIn, withDatabase } from './databases.ts'
import { startRemit } from './remit.ts'
import { print } from './report.ts'
import { dropDatabase, isReachable, newDatabase, run as runSql } from './scratch.ts'
import { atRest } from './webhooks/at-rest.ts'
import { measureGetsBeside } from './webhooks/beside.ts'
import { creates } from './webhooks/creates.ts'
import { drains } from './webhooks/drains.ts'
import { addEndpoints, fillQueue, healthyCount, keepHealthy, settings } from './webhooks/queue.ts'
import { type Receiver, startReceiver } from './webhooks/receiver.ts'

const targets = {
	sqlite: { least: 0.4, goal: 0.5, mostLoss: 0.1 },
	postgres: { least: 0.3, goal: 0.4, mostLoss: 0.1 },
}

/** A drain takes some ten seconds, so that more rounds would take too long. */
const mostRounds = 3

export async function webhooks(run: Run): Promise<void> {
	const receiver = await startReceiver()
	const rounds = Math.min(run.rounds, mostRounds)
	const events = run.quick ? 2_000 : 5_000
	await onSqlite(run, receiver, events, rounds)
	if (await isReachable()) await onPostgres(run, receiver, events, rounds)
	else print('Webhooks on PostgreSQL: skipped, no server on this machine\n')
}

async function onSqlite(run: Run, receiver: Receiver, events: number, rounds: number): Promise<void> {
	const { organizationId } = run.seed
	const change = async (folder: string, work: (db: Database) => Promise<unknown>) => {
		await withDatabase({ folder }, work)
		return folder
	}
	let body = ''
	const all = await change(copyDatabase('queue', run.database), async (db) => {
		body = await fillQueue(db, organizationId, receiver.urls, events)
	})
	const healthy = await change(copyDatabase('healthy-queue', fileIn(all)), (db) => keepHealthy(db, receiver.urls))
	const queues = { all: fileIn(all), healthy: fileIn(healthy), none: run.database }
	let copies = 0
	const startOn = (database: string) => {
		const where = { DATA_DIR: copyDatabase(`drain-${++copies}`, database), ...settings }
		return startRemit('remit', run.server, where)
	}
	const start = (queue: keyof typeof queues) => startOn(queues[queue])
	await drains(receiver, start, { database: 'SQLite', events, rounds, body, targets: targets.sqlite })
	await measureGetsBeside(receiver, start, { ...run, rounds, count: events * healthyCount })
	const startSubscribed = async (urls: readonly string[]) =>
		startOn(
			fileIn(await change(copyDatabase(`subscribed-${++copies}`, run.database), (db) => addEndpoints(db, organizationId, urls))),
		)
	const server = await startSubscribed([receiver.urls.healthy])
	await atRest(receiver, server, run.key, run.quick ? 100 : 500)
	await server.stop()
	await creates(receiver, ({ count, to }) => startSubscribed(Array<string>(count).fill(receiver.urls[to])), { ...run, rounds })
}

async function onPostgres(run: Run, receiver: Receiver, events: number, rounds: number): Promise<void> {
	let body = ''
	const change = async (url: string, work: (db: Database) => Promise<unknown>) => {
		await withDatabase({ url }, work)
		await runSql('vacuum analyze', url)
	}
	await change(await newDatabase('all'), async (db) => {
		const { id } = await db.transaction((tx) => createOrganization(tx, bySystem(Date.now()), { name: 'First' }))
		body = await fillQueue(db, id, receiver.urls, events)
	})
	await change(await newDatabase('healthy', 'all'), (db) => keepHealthy(db, receiver.urls))
	const start = async (queue: 'healthy' | 'all') => {
		await dropDatabase('copy')
		const url = await newDatabase('copy', queue)
		await runSql('checkpoint')
		return startRemit('remit', run.server, { DATABASE_URL: url, ...settings })
	}
	await drains(receiver, start, { database: 'PostgreSQL', events, rounds, body, targets: targets.postgres })
}
